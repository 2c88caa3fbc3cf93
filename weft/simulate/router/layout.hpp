// SPDX-License-Identifier: Apache-2.0
// Lays out the state: how many routers, inputs, outputs and slots there are, where they stand, and
// how they are connected.
//
// Within a router inputs are numbered: cables in, cards, then (with output buffers) the buffers,
// then the nodes' receiving buffers. Outputs: cables out and nodes through the crossbar, then (with
// output buffers) the same again behind the buffers, then cards.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/base/result.hpp>
#include <weft/network/part/part.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Slots and inputs have numbers of 32 bits. Refuses what does not fit before it is laid out.
Status check_size(const Topology& topology, const NetworkHardware& machine);

// All routers, or those of one of several processes; peers may be null.
Placement place_routers(const Graph& graph, const Parts& parts, const ProcessGroup* peers);

// The state with all tables made and connected; no packet, nothing scheduled, no agenda.
// whole_rings: see NetworkOptions.
std::unique_ptr<State> lay_out(const Setup& setup, Placement placement, bool whole_rings = true);

// The least delays with which one router affects another, of this process's outputs; never_at if it
// has no cable.
struct Lookahead {
  std::int64_t packets_ps, credits_ps;
};
Lookahead find_lookahead(const State& state);

}  // namespace weft::detail
