// SPDX-License-Identifier: Apache-2.0
// Credits: is there room in the buffer that an output fills, in which VC, and if not, when?
//
// An account counts the room of one VC of an output. Credits that have come back since it was last
// looked at stand in the slots of the departed packets (records.hpp) and are counted when needed.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

inline bool has_room(const Account& account, const Output& out, std::int64_t size) {
  return account.room >= size &&
         static_cast<std::uint16_t>(account.pushed - account.reclaim) < out.packets_max;
}

// Counts the credits that have come back by `now` from the buffer `in`.
inline void reclaim(State& state, Account& account, const Input& in, std::int64_t now) {
  if (in.port == sink_port && in.ready_at <= now) {
    account.room += static_cast<std::int32_t>(in.departed - account.departed);
    account.departed = in.departed;
    account.reclaim = in.head;
    return;
  }
  // Backwards: the newest credit mostly stands for all, which saves reading the cold rest.
  for (std::uint16_t i = in.head; i != account.reclaim; --i) {
    const Slot& gone = state.slot(in, i - 1u);
    if (gone.head_at > now) continue;
    const auto departed = static_cast<std::uint32_t>(gone.route);
    account.room += static_cast<std::int32_t>(departed - account.departed);
    account.departed = departed;
    account.reclaim = i;
    return;
  }
}

// The VC to go to, or none, and then when there may be one.
struct VcPick {
  std::int64_t possible_at;
  Vc vc;
};

// The VC with the most room, in turn among equals.
VcPick pick_vc(State& state, OutputIndex output, VcMask vcs, std::int64_t size, std::int64_t now);

// The earliest time known at which the VC takes a packet of this size: `now` or before if it does
// already; never_at if that depends on a credit that is not known yet (the buffer is then starved).
std::int64_t room_at(State& state, OutputIndex output, Vc vc, std::int64_t size, std::int64_t now);

// The wire of the output that fills the buffer.
inline const Wire& feeder_wire(const State& state, const Input& in) {
  if (!in.remote) return state.wires[state.outputs[in.feeder()].wire];
  if (state.remote != nullptr) return state.wires[state.remote_feeders[in.remote_feeder()].wire];
  return state.wires[state.outputs[state.inputs[in.mirror()].feeder()].wire];
}

// When the feeder can use the space of a packet that starts to leave the buffer at `start_at` and
// whose last flit leaves at `tail_at`.
inline std::int64_t stamp_at(const State& state, const Input& in, std::int64_t size,
                             std::int64_t start_at, std::int64_t tail_at) {
  if (state.setup.machine.release == Release::tail) return tail_at + in.credit;
  // A successor that starts now ends no earlier than this much later; it never catches up.
  const std::int64_t follow =
      feeder_wire(state, in).serialise_ps(std::max<std::int64_t>(size - state.setup.flit_bytes, 0));
  return std::max(start_at, tail_at - follow) + in.credit;
}

// A node takes every packet at once, so its credit is known as soon as the packet is sent. The last
// flit comes `tail_after` the first, at `tail`.
inline void note_node_credit(State& state, InputIndex sink, const Slot& packet,
                             std::int64_t tail_after, std::int64_t tail) {
  Input& in = state.inputs[sink];
  Slot& gone = state.slot(in, in.tail++);
  ++in.head;
  in.ready_at = gone.head_at = tail + in.credit;
  gone.tail_after = static_cast<std::uint32_t>(tail_after);
  gone.packed = packet.packed;
  gone.route = in.departed += packet.size();
}

}  // namespace weft::detail
