// SPDX-License-Identifier: Apache-2.0
// Buffers behind the switch (router.output_buffer): a queue for each VC of an output. Flits cross
// the switch into it, as soon as it has room for them, and leave it at the link's rate when the
// buffer behind the link has. VCs take turns on the link flit by flit.
//
// Always holds: what the switch and its policy know as an output VC is the queue; the credits of
// the buffer behind the link are the queue's. A flit on its way through the switch has its room in
// the queue already.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/route/policy.hpp>
#include <weft/simulate/flits/packet.hpp>

namespace weft::flits {

struct State;

// Of one output VC, which has the same number. Packets that have a flit in it, or whose flits are
// still to come behind the head, stand in its ring.
struct OutputQueue {
  std::uint32_t flits = 0;           // Here, of all packets.
  std::uint32_t passed = 0;          // Of the first packet, gone on.
  std::uint32_t packet = none;       // The first.
  std::uint32_t head = 0, tail = 0;  // Of the ring; free-running.
  std::int32_t credits = 0;          // Flits, of the buffer behind the link.
};

// What has passed a link.
struct Passed {
  std::uint64_t packets = 0, bytes = 0;
};

// The link behind the queues of an output end.
struct LinkEnd {
  VcMask ready = 0;             // Those that could use it.
  std::uint32_t target = none;  // First input VC of the other side.
  std::int32_t delay = 1;       // To being usable there.
  std::uint8_t vc_turn = 0;
  std::uint8_t remote_worker = nobody;  // The worker that has the other side, if it is another.
  std::int64_t flit_ps = 0;
  std::int64_t free_at_ps = 0;  // Where a flit takes longer than a cycle.
  Passed passed;
};

// Of all workers; empty where outputs have no buffers.
struct OutputBuffers {
  std::uint32_t ring_mask = 0;
  std::vector<OutputQueue> queues;
  std::vector<LinkEnd> ends;
  std::vector<std::uint64_t> sending;  // By router: ends with a VC that could use the link.
  std::vector<std::uint32_t> rings;    // Packets, of queues.

  std::uint32_t& ring(std::uint32_t output, std::uint32_t position) {
    return rings[std::size_t{output} * (std::size_t{ring_mask} + 1) + (position & ring_mask)];
  }
};

// A flit has crossed the switch; its `input` is that of State::first_queue and on.
void take_queued_flit(State& state, const FlitArrival& flit);
// Credits arrive for a queue.
void take_link_credit(State& state, const CreditArrival& credit);
// Every link of the router that can takes a flit. False: nobody could use one in the next cycle.
bool serve_links(State& state, std::uint32_t router);

}  // namespace weft::flits
