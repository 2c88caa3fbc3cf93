// SPDX-License-Identifier: Apache-2.0
// Settings of the processes of a real job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::launch {

// Which TCP connections are encrypted and authenticated: none, those between hosts, all.
enum class Protect : std::uint8_t { off, on, all };
Result<Protect> parse_protect(std::string_view text);
std::string_view to_text(Protect protect);
constexpr bool protects(Protect protect, bool same_host) {
  return protect == Protect::all || (protect == Protect::on && !same_host);
}

struct Settings {
  // Interfaces (eth0), addresses or subnets (10.64.0.0/16), or libfabric domains (ofi:tcp:eth0);
  // empty: all that the hosts have in common.
  std::vector<std::string> rails;
  bool shared_memory = true;  // Ranks of one host use shared memory,
  bool single_copy = true;    // and copy directly between processes where the kernel allows it.
  Protect protect = Protect::on;
  std::string record;   // A folder for the record of the run; empty: none.
  bool events = false;  // Also record each call and message, for OTF2.
  // A peer is lost if no rail has heard from it for this long.
  Duration lost_after = Duration::ms(8000);
  std::vector<std::string> collectives;  // "alltoall=bruck"
  std::vector<std::string> messages;     // Keys of [messages]: "eager_limit=32 KiB"
  // "managed,shortcuts=4"; empty: as the limit of descriptors allows.
  std::string connections;
  std::string groups;  // Lines "HOST SWITCH", for managed connections; empty: one group per host.
  // Number of the process from which all processes of this host descend; empty: unknown.
  std::string ancestor;
  std::string places;  // Locality of this process; see locality/places.hpp.
};

// One line per setting, as a launcher sends it. The names are also those of the environment
// variables: `rails` is WEFT_RAILS. WEFT_PROFILE is read as WEFT_RECORD, its present name.
std::string to_text(const Settings& settings);
Result<Settings> parse_settings(const std::string& text);
// For processes that other launchers start.
Result<Settings> settings_from_environment();

}  // namespace weft::launch
