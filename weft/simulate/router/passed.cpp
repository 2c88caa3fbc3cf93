// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/passed.hpp"

#include <algorithm>

namespace weft::detail {

namespace {

// The last packet that was granted passes until `end_at`: what of it passes after `at`, rounded up?
// Its size and length in time stand in the slot that it was put into; neither changes when it goes
// on from there.
std::uint64_t bytes_after(const State& state, OutputIndex output, std::int64_t end_at,
                          std::int64_t at) {
  if (end_at <= at) return 0;
  const Output& out = state.outputs[output];
  const Account& account = state.accounts[state.channel(output, Vc(out.last_vc))];
  const Slot& packet = state.slot(account, account.pushed - 1u);
  const std::int64_t size = packet.size();
  const std::int64_t flit =
      state.wires[out.wire].serialise_ps(std::min(size, state.setup.flit_bytes));
  const std::int64_t whole = packet.tail_after + flit;
  const std::int64_t left = std::min(end_at - at, whole);
  // A size has at most 18 bits and a time on a wire 33, so the product fits.
  return static_cast<std::uint64_t>((size * left + whole - 1) / whole);
}

// The output that drives the cable. With output buffers it stands behind them.
OutputIndex cable_of(const State& state, RouterIndex r, std::uint32_t end) {
  const std::uint32_t behind = state.setup.buffered ? state.routers[r].ends() : 0;
  return state.output_at(r, LocalOutput(behind + end));
}

void add_waits(const State& state, OutputIndex output, LinkCount& sum) {
  if (!state.measures_waits) return;
  sum.waited_in_queue += Duration::ps(state.waits[output].queue_ps);
  sum.waited_for_turn += Duration::ps(state.waits[output].turn_ps);
  sum.waited_for_room += Duration::ps(state.waits[output].room_ps);
}

// The last packet so far passes until `end_at`.
LinkCount count(const State& state, OutputIndex output, std::int64_t end_at, Time at) {
  const Output& out = state.outputs[output];
  LinkCount sum;
  sum.packets = out.packets;
  sum.bytes = out.bytes - bytes_after(state, output, end_at, at.in_ps());
  add_waits(state, output, sum);
  return sum;
}

}  // namespace

LinkCount count_passed(const State& state, RouterIndex r, std::uint32_t end, Time at) {
  const OutputIndex cable = cable_of(state, r, end);
  LinkCount sum = count(state, cable, state.outputs[cable].free_at, at);
  // What waits to get into the output buffer waits for the same link.
  if (state.setup.buffered) add_waits(state, state.output_at(r, LocalOutput(end)), sum);
  return sum;
}

LinkCount count_injected(const State& state, RouterIndex r, std::uint32_t n, Time at) {
  const Router& router = state.routers[r];
  const Card& card = state.cards[CardIndex(router.first_card.value + n)];
  return count(state, router.first_output + LocalOutput(router.first_card_output().value + n),
               card.sent_at, at);
}

}  // namespace weft::detail
