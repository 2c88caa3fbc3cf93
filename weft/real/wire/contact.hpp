// SPDX-License-Identifier: Apache-2.0
// What processes of a job tell each other at the start, in two rounds: where they are, then how
// they are reached there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::wire {

struct ContactPlace {
  std::string host;                // Equal for processes that can open each other's memory.
  std::string name;                // Name of the host, for people.
  std::string processors;          // Where it may run, as a list: "0-3,8".
  std::vector<std::string> rails;  // By row of the table of kinds; empty: none of that kind.
};
std::string to_text(const ContactPlace& place);
Result<ContactPlace> parse_place(const std::string& text);

struct ContactAddress {
  std::uint32_t room = 0;          // For connections, by the descriptors that are left.
  std::vector<std::string> rails;  // By row of the table of kinds.
};
std::string to_text(const ContactAddress& address);
Result<ContactAddress> parse_address(const std::string& text);

// Several texts, of any bytes, in one.
std::string pack_texts(std::span<const std::string> texts);
Result<std::vector<std::string>> unpack_texts(const std::string& text);
// Error for a malformed message from a peer.
Error nonsense_from_peer(const std::string& what);

// The host of this process.
std::string host_identity();
std::string host_name();

}  // namespace weft::wire
