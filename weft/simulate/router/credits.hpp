// SPDX-License-Identifier: Apache-2.0
// Credits: is there room in the buffer that an output fills, in which VC, and if not, when?
//
// An account counts the room of one VC of an output. Credits that have come back since it was last
// looked at stand in the slots of the departed packets (records.hpp) and are counted when needed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

inline bool has_room(const Account& account, const Output& out, std::int64_t size) {
  return account.room >= size &&
         static_cast<std::uint16_t>(account.pushed - account.reclaim) < out.packets_max;
}

// Counts the credits that have come back by `now` from the buffer `in`. whole: rings are of one
// block.
template <bool whole = false>
inline void reclaim(State& state, Account& account, const Input& in, std::int64_t now) {
  if (in.port == sink_port && in.ready_at <= now) {
    account.room += static_cast<std::int32_t>(in.departed - account.departed);
    account.departed = in.departed;
    account.reclaim = in.head;
    return;
  }
  // Backwards: the newest credit mostly stands for all, which saves reading the cold rest.
  for (std::uint16_t i = in.head; i != account.reclaim; --i) {
    const Slot& gone = whole ? state.whole_slot(account, i - 1u) : state.slot(account, i - 1u);
    if (gone.head_at > now) continue;
    const auto departed = static_cast<std::uint32_t>(gone.route);
    account.room += static_cast<std::int32_t>(departed - account.departed);
    account.departed = departed;
    account.reclaim = i;
    return;
  }
}

// As reclaim(), but from the oldest credit on: no more work than there are credits, where many are
// under way. Returns when the next one comes back, as far as is known. REQUIRES: rings are whole.
inline std::int64_t reclaim_in_order(State& state, Account& account, const Input& in,
                                     std::int64_t now) {
  if (account.reclaim == in.head) return never_at;
  if (in.port == sink_port && in.ready_at <= now) {
    reclaim<true>(state, account, in, now);
    return never_at;
  }
  std::int64_t next = never_at;
  std::uint16_t i = account.reclaim;
  std::uint32_t departed = account.departed;
  do {
    const Slot& gone = state.whole_slot(account, i);
    if (gone.head_at > now) {
      next = gone.head_at;
      break;
    }
    departed = static_cast<std::uint32_t>(gone.route);
    ++i;
  } while (i != in.head);
  account.room += static_cast<std::int32_t>(departed - account.departed);
  account.departed = departed;
  account.reclaim = i;
  return next;
}

// The VC to go to, or none, and then when there may be one.
struct VcPick {
  std::int64_t possible_at;
  Vc vc;
};

// When there is room, if the credits up to now are counted and do not suffice; never_at if that
// depends on a credit that is not known yet (the buffer is then starved).
std::int64_t room_later(State& state, const Account& account, const Output& out, Input& in,
                        std::int64_t size);

// The VC with the most room, in turn among equals.
template <bool whole = false>
VcPick pick_vc(State& state, OutputIndex output, VcMask vcs, std::int64_t size, std::int64_t now);

// As that; credits are counted as by reclaim_in_order(). holds: Setup::holds_vcs may be set.
template <bool holds>
inline VcPick pick_vc_in_order(State& state, OutputIndex output, VcMask vcs, std::int64_t size,
                               std::int64_t now) {
  const Output& out = state.outputs[output];
  const ChannelIndex first = state.channel(output, Vc(0));
  const Slice<Account, Vc> accounts(&state.accounts[first]);
  const Slice<Input, Vc> inputs(&state.inputs[out.target]);
  const std::int64_t* const free_at =
      holds && state.setup.holds_vcs ? &state.vc_free_at[first] : nullptr;
  if ((vcs & (vcs - 1)) == 0) {  // Nothing to compare: no need to count all credits.
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(vcs)));
    if ((free_at == nullptr || free_at[vc.value] <= now) && has_room(accounts[vc], out, size))
      return {now, vc};
  }
  VcPick best{never_at, no_vc};
  std::int32_t most = -1;
  const auto after = static_cast<VcMask>(~std::uint64_t{1} << out.last_vc);
  for (VcMask left = vcs; left != 0;) {
    const VcMask set = (left & after) != 0 ? left & after : left;
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(set)));
    left &= ~(VcMask{1} << vc.value);
    if (free_at != nullptr && free_at[vc.value] > now) {
      best.possible_at = std::min(best.possible_at, free_at[vc.value]);
      continue;
    }
    Account& account = accounts[vc];
    reclaim_in_order(state, account, inputs[vc], now);
    if (!has_room(account, out, size)) {
      best.possible_at =
          std::min(best.possible_at, room_later(state, account, out, inputs[vc], size));
    } else if (account.room > most) {
      most = account.room;
      best.vc = vc;
    }
  }
  return best;
}

// The earliest time known at which the VC takes a packet of this size: `now` or before if it does
// already; never_at if that depends on a credit that is not known yet (the buffer is then starved).
template <bool whole = false>
std::int64_t count_room(State& state, OutputIndex output, Vc vc, std::int64_t size,
                        std::int64_t now);
template <bool whole = false>
inline std::int64_t room_at(State& state, OutputIndex output, Vc vc, std::int64_t size,
                            std::int64_t now) {
  if (const std::int64_t at = state.vc_free(output, vc); at > now) return at;
  if (has_room(state.accounts[state.channel(output, vc)], state.outputs[output], size)) return now;
  return count_room<whole>(state, output, vc, size, now);
}

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
