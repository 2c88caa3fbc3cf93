// SPDX-License-Identifier: Apache-2.0
// What has passed an output by a moment. Outputs count whole packets when they grant them, which
// costs the least; a packet that is passing at the moment asked for is divided here.
#pragma once

#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// The output that drives the cable to a neighbour (by port) or to a node (after the ports). With
// output buffers it stands behind them.
OutputIndex cable_of(const State& state, RouterIndex r, std::uint32_t end);

// `at`: see Network::link().
LinkCount count_passed(const State& state, OutputIndex cable, Time at);
// From the card of the router's n-th node.
LinkCount count_injected(const State& state, RouterIndex r, std::uint32_t n, Time at);

}  // namespace weft::detail
