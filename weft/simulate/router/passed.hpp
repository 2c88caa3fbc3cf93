// SPDX-License-Identifier: Apache-2.0
// What has passed an output by a moment, and what has waited for it. Outputs count whole packets
// when they grant them, which costs the least; a packet that is passing at the moment asked for is
// divided here.
#pragma once

#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// `at`: see Network::link(). `end`: a port to a neighbour, or a node, numbered after the ports.
LinkCount count_passed(const State& state, RouterIndex r, std::uint32_t end, Time at);
// From the card of the router's n-th node.
LinkCount count_injected(const State& state, RouterIndex r, std::uint32_t n, Time at);

}  // namespace weft::detail
