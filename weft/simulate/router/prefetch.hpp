// SPDX-License-Identifier: Apache-2.0
// Fetches what the next visits of routers need. A visit is short and touches many places, each
// found through the one before. Requested in time, one level per call, they are in the cache when
// the visit comes: without this, a large network spends half its time waiting for memory
// (bench/packet_hops).
#pragma once

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Fetches inputs, outputs, accounts and times of a router whose record has been fetched.
void prefetch_tables(const State& state, RouterIndex r);
// Packets, credits and messages of a router whose tables have been fetched.
void prefetch_slots(const State& state, RouterIndex r);

}  // namespace weft::detail
