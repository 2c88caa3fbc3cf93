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
  const Slot& packet = state.slots[account.ring + ((account.pushed - 1u) & state.ring_mask)];
  const std::int64_t size = packet.size();
  const std::int64_t flit =
      state.wires[out.wire].serialise_ps(std::min(size, state.setup.flit_bytes));
  const std::int64_t whole = packet.tail_after + flit;
  const std::int64_t left = std::min(end_at - at, whole);
  // A size has at most 18 bits and a time on a wire 33, so the product fits.
  return static_cast<std::uint64_t>((size * left + whole - 1) / whole);
}

}  // namespace

OutputIndex cable_of(const State& state, RouterIndex r, std::uint32_t end) {
  const std::uint32_t behind = state.setup.buffered ? state.routers[r].ends() : 0;
  return state.output_at(r, LocalOutput(behind + end));
}

LinkCount count_passed(const State& state, OutputIndex cable, Time at) {
  const Output& out = state.outputs[cable];
  return {.packets = out.packets,
          .bytes = out.bytes - bytes_after(state, cable, out.free_at, at.in_ps())};
}

LinkCount count_injected(const State& state, RouterIndex r, std::uint32_t n, Time at) {
  const Router& router = state.routers[r];
  const Card& card = state.cards[CardIndex(router.first_card.value + n)];
  const OutputIndex output =
      router.first_output + LocalOutput(router.first_card_output().value + n);
  const Output& out = state.outputs[output];
  return {.packets = out.packets,
          .bytes = out.bytes - bytes_after(state, output, card.sent_at, at.in_ps())};
}

}  // namespace weft::detail
