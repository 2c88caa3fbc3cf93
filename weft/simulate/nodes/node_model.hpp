// SPDX-License-Identifier: Apache-2.0
// What a simulated computer is, between its processors and its network cards. Describes; host.cpp
// and card.cpp compute.
//
// A message leaves a program's memory by a copy into the library's (one-copy) or straight
// (zero-copy, remote write); the card reads it through its bus, at the rate the network file gives
// in [nic]. At the other side the card writes it to memory. With several sockets, memory and cards
// belong to a socket, and a card that writes to the other socket's memory is slower: its bus
// carries some payloads per round trip between the sockets, and waits behind what else that memory
// serves.
#pragma once

#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

struct NodeModel {
  int rails = 1;                               // Cards per node.
  Duration call_overhead = Duration::ns(200);  // Time of each call that communicates.
  Rate memory_rate = Rate::gbyte_per_s(10);    // For a copy, and in all for one socket.
  Rate dma_rate = Rate::gbyte_per_s(10);       // Between a NIC and memory; 0: as its link.
  Duration local_latency = Duration::ns(300);  // Between ranks of one node.
  Bytes envelope{0};                           // What a frame's head adds on the wire.
  Duration connect_time = Duration::us(50);    // Time of either processor to open one.

  int sockets = 1;
  std::vector<int> card_socket;  // By rail; empty: spread evenly, the first cards at socket 0.
  Bytes bus_payload{128};        // Payload of a bus transaction,
  Bytes bus_header{0};           // and its header.
  Rate bus_rate;                 // 0: no limit beyond the others.
  Duration far_latency;          // For one bus payload to the other socket's memory; 0: none.
  int far_transactions = 32;     // Bus payloads to far memory that a NIC has in flight.

  int socket_of_card(int rail) const {
    if (!card_socket.empty()) return card_socket[static_cast<std::size_t>(rail)];
    return rail * sockets / rails;
  }
  // What a card carries to or from near memory: the least of DMA and bus; 0: no limit.
  Rate card_rate() const;
  // What a card carries to far memory while nobody else writes there; 0: no limit.
  Rate far_rate() const;
};

// Fills `model` from the table [node] of a network file. With a card's rate given, memory that is
// not described keeps up with all cards of the node. `layout` ("2 sockets x 2 cards") says in one
// line what sockets, cards and card_socket say, and the rest follows from it.
Status read_node(const Config& config, NodeModel& model, Rate keep_up_with = {});

}  // namespace weft
