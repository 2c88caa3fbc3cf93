// SPDX-License-Identifier: Apache-2.0
// The slow part of the credit accounts, out of line: not called where there is plenty of room.
#include "weft/simulate/router/credits.hpp"

#include <bit>

namespace weft::detail {

namespace {

void mark_starved(State& state, const Output& out, Input& in) {
  if (!in.starved && out.kind == to_router)
    ++state.routers[state.router_of_output[in.feeder()]].starved;
  in.starved = true;
}

}  // namespace

std::int64_t room_later(State& state, const Account& account, const Output& out, Input& in,
                        std::int64_t size) {
  Account then = account;
  while (then.reclaim != in.head) {
    const Slot& gone = state.slot(in, then.reclaim++);
    then.room += static_cast<std::int32_t>(gone.size());
    if (has_room(then, out, size)) return gone.head_at;
  }
  mark_starved(state, out, in);
  return never_at;
}

template <bool whole>
std::int64_t count_room(State& state, OutputIndex output, Vc vc, std::int64_t size,
                        std::int64_t now) {
  Account& account = state.accounts[state.channel(output, vc)];
  const Output& out = state.outputs[output];
  Input& in = state.inputs[out.target + vc];
  reclaim<whole>(state, account, in, now);
  return has_room(account, out, size) ? now : room_later(state, account, out, in, size);
}

template <bool whole>
VcPick pick_vc(State& state, OutputIndex output, VcMask vcs, std::int64_t size, std::int64_t now) {
  const Output& out = state.outputs[output];
  const ChannelIndex first = state.channel(output, Vc(0));
  const Slice<Account, Vc> accounts(&state.accounts[first]);
  const Slice<Input, Vc> inputs(&state.inputs[out.target]);
  const std::int64_t* const free_at = state.setup.holds_vcs ? &state.vc_free_at[first] : nullptr;
  VcPick best{never_at, no_vc};
  std::int32_t most = -1;
  const auto after = static_cast<VcMask>(~std::uint64_t{1} << out.last_vc);
  for (VcMask left = vcs; left != 0;) {
    const VcMask set = (left & after) != 0 ? left & after : left;
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(set)));
    left &= ~(VcMask{1} << vc.value);
    Account& account = accounts[vc];
    if (free_at != nullptr && free_at[vc.value] > now) {
      best.possible_at = std::min(best.possible_at, free_at[vc.value]);
      continue;
    }
    Input& in = inputs[vc];
    // The accounts are compared, so they must be up to date.
    reclaim<whole>(state, account, in, now);
    if (!has_room(account, out, size)) {
      best.possible_at = std::min(best.possible_at, room_later(state, account, out, in, size));
    } else if (account.room > most) {
      most = account.room;
      best.vc = vc;
    }
  }
  return best;
}

template std::int64_t count_room<false>(State&, OutputIndex, Vc, std::int64_t, std::int64_t);
template std::int64_t count_room<true>(State&, OutputIndex, Vc, std::int64_t, std::int64_t);
template VcPick pick_vc<false>(State&, OutputIndex, VcMask, std::int64_t, std::int64_t);
template VcPick pick_vc<true>(State&, OutputIndex, VcMask, std::int64_t, std::int64_t);

}  // namespace weft::detail
