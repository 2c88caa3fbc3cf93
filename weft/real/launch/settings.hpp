// SPDX-License-Identifier: Apache-2.0
// What processes of a real job are told beside who they are.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::launch {

struct Settings {
  // Interfaces (eth0), addresses or subnets (10.64.0.0/16), or libfabric domains (ofi:tcp:eth0);
  // empty: those that the hosts have in common.
  std::vector<std::string> rails;
  bool shared_memory = true;  // Ranks of one host talk through memory.
  bool single_copy = true;    // and copy from process to process where the kernel allows.
  std::string profile;        // A folder for the record of the run; empty: none.
  bool events = false;        // Also each call and message, for OTF2.
  Duration lost_after = Duration::ms(8000);  // A peer that no rail has heard of for so long.
  std::vector<std::string> collectives;      // "alltoall=bruck"
  std::vector<std::string> messages;         // Keys of [messages]: "eager_limit=32 KiB"
  std::string connections;                   // "managed,shortcuts=4"; empty: as descriptors allow.
  std::string groups;  // Lines "HOST SWITCH", for managed connections; empty: a host is one.
  std::string places;  // What locality found for this process; see locality/places.hpp.
};

// One line per setting; what a launcher sends, and the names of the variables: `rails` is
// WEFT_RAILS.
std::string to_text(const Settings& settings);
Result<Settings> parse_settings(const std::string& text);
// Of processes that others start.
Result<Settings> settings_from_environment();

}  // namespace weft::launch
