// SPDX-License-Identifier: Apache-2.0
// Packets and credits on their way between buffers. Inline, because a hop consists of little else.
#pragma once

#include <algorithm>
#include <bit>

#include <weft/simulate/router/engine.hpp>

namespace weft::detail {

inline void Engine::reclaim(Account& account, const Input& in, std::int64_t now) {
  if (in.port == sink_port && in.ready_at <= now) {
    account.room += static_cast<std::int32_t>(in.departed - account.departed);
    account.departed = in.departed;
    account.reclaim = in.head;
    return;
  }
  // Backwards: a look at the newest credit mostly does for all, and saves reading the cold rest.
  for (std::uint16_t i = in.head; i != account.reclaim; --i) {
    const Slot& gone = slot(in, i - 1u);
    if (gone.head_at > now) continue;
    const auto departed = static_cast<std::uint32_t>(gone.route);
    account.room += static_cast<std::int32_t>(departed - account.departed);
    account.departed = departed;
    account.reclaim = i;
    return;
  }
}

inline bool has_room(const Account& account, const Output& out, std::int64_t size) {
  return account.room >= size &&
         static_cast<std::uint16_t>(account.pushed - account.reclaim) < out.packets_max;
}

// When the space of a departing packet can be used again by the feeder.
inline std::int64_t Engine::stamp_at(const Input& in, std::int64_t size, std::int64_t start_at,
                                     std::int64_t tail_at) const {
  if (machine_.release == Release::tail) return tail_at + in.credit;
  // A successor that starts now ends no earlier than this much later; it never catches up.
  const Wire& wire = wires_[feeder_wire(in)];
  const std::int64_t follow = wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0));
  return std::max(start_at, tail_at - follow) + in.credit;
}

// What a policy finds in Flight::state of a new packet.
inline std::uint64_t Engine::packet_state(Card& card, std::uint32_t to) const {
  const std::uint64_t bits = packet_bits_.at((std::uint64_t{card.node} << 32) | card.packets++);
  if (dor_ == nullptr) return bits;
  return (bits & 0xffffffff) | (dor_->places().word(graph_.router_of(NodeId(to))) << 32);
}

// A packet has come to the front of its buffer.
inline void Engine::new_head(int worker, std::uint32_t input, std::uint32_t router) {
  const Input& in = inputs_[input];
  if (in.port == no_port) {
    queue_head(input, router);
    return;
  }
  const std::uint32_t bit = input - routers_[router].first_input;
  fresh(router)[bit / 64] |= std::uint64_t{1} << (bit % 64);
  if (timed_) {
    const std::int64_t at = route_at(in);
    bring_forward(router, 0, at);
    wake(worker, router, at);
  } else {
    // A route that does not depend on time can wait until the packet could move: one visit less.
    wake(worker, router, ready_at(in));
  }
}

inline void Engine::arrive(int worker, std::uint32_t input, std::uint32_t router,
                           const Slot& packet) {
  Input& in = inputs_[input];
  const bool empty = in.head == in.tail;
  slot(in, in.tail++) = packet;
  if (empty) new_head(worker, input, router);
}

inline void Engine::push(int worker, const Output& out, int vc, const Slot& packet) {
  const std::uint32_t target = out.target + static_cast<std::uint32_t>(vc);
  if (!out.remote) {
    arrive(worker, target, out.router, packet);
    return;
  }
  const Input& ghost = inputs_[target];
  slot(ghost, ghost.tail) = packet;
  mail_packet(worker, out, static_cast<std::uint32_t>(vc), packet);
}

// A node takes what comes, so the credit for its packet is known at once.
inline void Engine::note_credit(std::uint32_t sink, const Slot& packet, std::int64_t tail) {
  Input& in = inputs_[sink];
  Slot& gone = slot(in, in.tail++);
  ++in.head;
  in.ready_at = gone.head_at = tail + in.credit;
  gone.packed = packet.packed;
  gone.route = in.departed += packet.size();
}

// Space has become, or will become, free: if its feeder waits for it, tell him when.
inline void Engine::credit(int worker, Input& in, std::int64_t stamp_at) {
  if (!in.starved) return;
  in.starved = false;
  const std::uint32_t r = router_of_output_[in.feeder];
  if (outputs_[in.feeder].kind == to_router) --routers_[r].starved;
  const auto output = static_cast<int>(in.feeder - routers_[r].first_output);
  const std::int64_t at = std::max(stamp_at, outputs_[in.feeder].free_at);
  bring_forward(r, 1 + output, at);
  // A VC can be given away while its output is busy.
  if (committing_) bring_forward(r, 0, stamp_at);
  if (news_ != nullptr) stir(r, output, stamp_at);
  wake(worker, r, committing_ || news_ != nullptr ? stamp_at : at);
}

}  // namespace weft::detail
