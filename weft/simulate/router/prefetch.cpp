// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/prefetch.hpp"

#include <bit>

#include <weft/simulate/router/cards.hpp>

namespace weft::detail {

namespace {

constexpr int visit_packets = 6;  // A visit seldom sends more through one output.

// Inputs whose head is known.
std::uint64_t busy_inputs(const State& state, const Router& router) {
  return (router.heads | router.unrouted) & low_bits(router.ends() * state.setup.vcs);
}

}  // namespace

// Only what is in use: other lines would displace those that are needed.
void prefetch_tables(const State& state, RouterIndex r) {
  const Router& router = state.routers[r];
  const std::uint32_t ends = router.ends(), vcs = state.setup.vcs;
  const Input* const inputs = &state.inputs[router.first_input];
  for (std::uint64_t heads = busy_inputs(state, router); heads != 0; heads &= heads - 1)
    __builtin_prefetch(&inputs[std::countr_zero(heads)], 1);
  // A head without a route may go to any output.
  const std::uint64_t busy = (router.active >> 1) | (router.unrouted != 0 ? low_bits(ends) : 0);
  const Output* const outputs = &state.outputs[router.first_output];
  const Account* const accounts = &state.accounts[state.channel(router.first_output, Vc(0))];
  for (std::uint64_t left = busy & low_bits(router.outputs); left != 0; left &= left - 1) {
    const auto o = static_cast<std::size_t>(std::countr_zero(left));
    __builtin_prefetch(&outputs[o], 1);
    __builtin_prefetch(&accounts[o * vcs], 1);
  }
  for (std::uint32_t a = 0; a < router.actors; a += 8)
    __builtin_prefetch(&state.next_at[router.first_next + a], 1);
  __builtin_prefetch(&state.crossbar_free_at[std::size_t{router.first_port} * state.crossbar_lanes],
                     1);
  __builtin_prefetch(&state.cards[router.first_card], 1);
}

void prefetch_slots(const State& state, RouterIndex r) {
  const Router& router = state.routers[r];
  const std::uint32_t vcs = state.setup.vcs;
  const std::uint32_t first_card = router.first_card_output().value;
  const std::int64_t* const next =
      &state.next_at[router.first_next + actor_of(LocalOutput(0)).value];
  const std::int64_t until = std::min(router.wake_at, never_at - state.reach_ps) + state.reach_ps;
  const auto scarce =
      static_cast<std::int32_t>(visit_packets * state.setup.machine.packet_max().count);
  for (std::uint64_t busy = (router.active >> 1) & low_bits(router.outputs); busy != 0;
       busy &= busy - 1) {
    const LocalOutput o(static_cast<std::uint32_t>(std::countr_zero(busy)));
    if (next[o.value] >= until) continue;
    const OutputIndex output = router.first_output + o;
    if (o.value < router.ports) __builtin_prefetch(&state.inputs[state.outputs[output].target], 1);
    // The oldest credits, where space becomes scarce.
    const Account* const there = &state.accounts[state.channel(output, Vc(0))];
    for (std::uint32_t v = 0; o.value < router.ports && v < vcs; ++v) {
      if (there[v].room <= scarce) __builtin_prefetch(&state.slot(there[v], there[v].reclaim), 1);
    }
    if (o.value < first_card) continue;
    const std::uint32_t message = state.cards[card_at(router, o)].first;
    if (message != no_message) __builtin_prefetch(&state.messages[message], 1);
  }
  const Input* const inputs = &state.inputs[router.first_input];
  for (std::uint64_t heads = busy_inputs(state, router); heads != 0; heads &= heads - 1) {
    const Input& in = inputs[std::countr_zero(heads)];
    const auto packets = static_cast<std::uint16_t>(in.tail - in.head);
    // Two slots to a line.
    if (packets > 0) __builtin_prefetch(&state.slot(in, in.head), 1);
    if (packets > 1) __builtin_prefetch(&state.slot(in, in.head + 2u), 1);
  }
}

}  // namespace weft::detail
