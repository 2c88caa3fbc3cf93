// SPDX-License-Identifier: Apache-2.0
// The router of BookSim's curves, as their README describes it, flit by flit and cycle by cycle:
// slow and plain. It takes weft's own routing and traffic, so that what differs from weft is the
// router alone: VCs share a link flit by flit, and both allocators are iSLIP of one iteration.
//
// A flit that arrives in cycle t is routed in t (heads), has a VC allotted in t + 1 (heads) and the
// switch in t + 2 at the earliest, and arrives at the next router three cycles after that.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft::test {

struct FlitRouter {
  int vcs = 1, packet = 1, buffer = 1;  // Flits.
  bool wait_for_tail = false;           // A VC is free again when all its credits are back.
  bool hold_switch = false;             // A packet that was granted keeps the switch.
};

struct FlitRun {
  double load = 0;  // Flits per node and cycle.
  std::int64_t warmup = 0, measure = 0;
  double latency_limit = 0;  // Mean latency at which the run is given up.
  std::uint64_t seed = 1;
};

struct FlitResult {
  double latency = 0;   // Of packets born in the measured time; infinite if they do not end.
  double accepted = 0;  // Flits per node and cycle, while measured.
};

// A packet of FlitRouter::packet flits. `bits`: Flight::state where it begins.
struct FlitSend {
  std::int64_t at = 0;  // Cycle.
  std::uint32_t from = 0, to = 0;
  std::uint64_t bits = 0;
};

// REQUIRES: one node to a router, and a routing that does not look at ports.
FlitResult run_flits(const Scenario& scenario, const FlitRouter& router, const FlitRun& run);
// The cycles in which their last flits reach the nodes. REQUIRES: sends in the order of time.
std::vector<std::int64_t> run_flit_sends(const Scenario& scenario, const FlitRouter& router,
                                         const std::vector<FlitSend>& sends);

}  // namespace weft::test
