// SPDX-License-Identifier: Apache-2.0
// What a router does in a cycle: heads are routed, then get VCs, then flits get the switch. Routers
// affect each other only through what arrives later, so their order does not matter.
#pragma once

#include <cstdint>

#include <weft/simulate/flits/state.hpp>

namespace weft::flits {

// A flit arrives in a router's buffer.
void take_flit(State& state, const FlitArrival& flit);
// Credits arrive for what the switch fills by way of an output VC.
void take_credit(State& state, const CreditArrival& credit);
// All that a router does in this cycle. It is no longer active if nothing remains to be done.
void work(State& state, std::uint32_t router);

}  // namespace weft::flits
