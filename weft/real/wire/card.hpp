// SPDX-License-Identifier: Apache-2.0
// What processes of a job tell each other at the start, in two rounds: where they are, then how
// they are reached there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/wire/neighbour.hpp>
#include <weft/real/wire/ofi_places.hpp>

namespace weft::wire {

struct PlaceCard {
  std::string host;        // Equal for processes that see each other's memory.
  std::string name;        // Of the host, for people.
  std::string processors;  // Where it may run, as a list: "0-3,8".
  bool shares_memory = true;
  bool named = false;  // Rails were asked for by name.
  std::vector<locality::Interface> rails;
  std::vector<OfiPlace> cards;  // For RDMA.
};
std::string to_text(const PlaceCard& card);
Result<PlaceCard> parse_place(const std::string& text);

struct ReachCard {
  NeighbourCard neighbour;
  std::uint32_t room = 0;            // For connections, by the descriptors that are left.
  std::vector<std::uint16_t> ports;  // By rail; 0: nobody listens there.
  std::vector<std::string> cards;    // Addresses by card, any bytes; empty: it is not open.
};
std::string to_text(const ReachCard& card);
Result<ReachCard> parse_reach(const std::string& text);

// Of this process.
std::string host_identity();
std::string host_name();

}  // namespace weft::wire
