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
#include <weft/simulate/nodes/time_by_size.hpp>

namespace weft {

// Messages between ranks of a node, where their cost was measured: the keys local_*.
struct LocalModel {
  Duration send_overhead, receive_overhead;  // Of a frame, of either processor.
  TimeBySize copy_times;     // Of a short message, of either processor; empty: as any copy.
  TimeBySize latency_times;  // Latency of a frame by its size, beyond that of the node.
  Duration far_latency;      // Between sockets; 0: as inside of one.
  // Of a stretch of a large message, which the processors of both ranks copy. Empty: memory copies
  // large messages by itself, at memory_rate.
  TimeBySize write_times;
  Duration write_overhead;  // Of the sender, before its first stretch.
};

struct NodeModel {
  int rails = 1;                               // Cards per node.
  Duration call_overhead = Duration::ns(200);  // Time of each call that communicates.
  Rate memory_rate = Rate::gbyte_per_s(10);    // For a copy, and in all for one socket.
  Rate dma_rate = Rate::gbyte_per_s(10);       // Between a NIC and memory; 0: as its link.
  Duration local_latency = Duration::ns(300);  // Between ranks of one node.
  Bytes envelope{0};                           // What a frame's head adds on the wire.
  Duration connect_time = Duration::us(50);    // Time of either processor to open one.

  // What a library costs beyond a call, where it was measured.
  Duration request_overhead;     // Of a request that outlives its call.
  Duration collective_overhead;  // Of a collective call, before its first message.
  TimeBySize copy_times;         // Of a copy by one processor; empty: at memory_rate.
  Rate reduce_rate;              // Of reductions; 0: as a copy.
  Bytes cache{0};                // Of one processor; 0: all memory is alike.
  Rate uncached_rate;            // Limit of a copy by one processor beyond the cache.
  LocalModel local;

  // Ranks beyond the cores share these.
  int cores = 0;                           // Per node; 0: as many as ranks.
  Duration poll_time = Duration::us(100);  // A rank that waits for longer sleeps.
  Duration wake_time;                      // Until a sleeping rank goes on.
  Duration switch_time;                    // Of a core, from a rank that waits to another.

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
  bool fits_cache(Bytes size) const { return cache.count > 0 && size * 2 <= cache; }
  // Time of one processor for a copy; `cached`: source and target are in its cache.
  Duration copy_time(Bytes size) const;
  Duration local_write_time(Bytes size, bool cached) const;
  // What a copy to or from another rank takes beyond that.
  Duration local_copy_extra(Bytes size) const;
  // What a card carries to or from near memory: the least of DMA and bus; 0: no limit.
  Rate card_rate() const;
  // What a card carries to far memory while nobody else writes there; 0: no limit.
  Rate far_rate() const;
};

// Fills `model` from the table [node] of a network file. With a card's rate given, memory that is
// not described keeps up with all cards of the node. `layout` ("2 sockets x 2 cards") says in one
// line what sockets, cards and card_socket say, and the rest follows from it.
Status read_node(const Config& config, NodeModel& model, Rate keep_up_with = {});

// The cards of a node that the table [node] says; `usual` where it says nothing. For those who need
// to know before the whole table is read, which tells all other mistakes.
Result<int> read_card_count(const Config& config, int usual);
// The key of [node] that says it, for messages.
const char* card_count_key(const Config& config);

}  // namespace weft
