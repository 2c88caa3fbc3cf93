// SPDX-License-Identifier: Apache-2.0
// Decides which interface of one host talks to which of another. Both sides compute it from the two
// lists that they exchanged, and find the same pairs in the same order, however the lists are
// sorted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <weft/real/locality/interfaces.hpp>

namespace weft::locality {

// Positions in the two lists.
struct RailPair {
  std::size_t mine = 0;
  std::size_t theirs = 0;

  friend bool operator==(const RailPair&, const RailPair&) = default;
};

struct Meeting {
  bool same_host = false;  // Both processes see the same interfaces.
  bool named = false;      // Both hosts requested their rails by name or address.
};

// Between hosts: interfaces on a common subnet, one to one; each interface at most once, the faster
// ones of a subnet with the faster ones. An address that both hosts have leads nowhere (bridges of
// containers and virtual machines). Requested rails may also pair without a common subnet, over
// routers. Within one host: the loopback, else each interface with itself.
std::vector<RailPair> pair_rails(std::span<const Interface> mine, std::span<const Interface> theirs,
                                 Meeting meeting);

// A host's interfaces, for error messages.
struct Side {
  std::string host;
  std::span<const Interface> interfaces;
};

// One line: why two hosts have no rail, and what to do.
std::string no_rail_text(const Side& mine, const Side& theirs);

}  // namespace weft::locality
