// SPDX-License-Identifier: Apache-2.0
// The latency of an idle network: packets are sent one at a time, each long after the one before
// has arrived, and averaged as the pattern weighs them.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <cstdint>

#include <weft/base/result.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft {

struct ZeroLoad {
  double latency_cycles = 0;
  double latency_max_cycles = 0;  // Of the packets that were sent.
  double hops = 0;
  // Every pair of the pattern was sent (a routing that throws coins still throws one per pair);
  // otherwise a sample of them.
  bool exact = true;
  std::uint64_t packets = 0;
};

// Every pair up to 1024 nodes (16384 where each node has one destination), 4096 drawn pairs above.
// Beyond 200,000 pairs those of equal length and size are sent once for all, which needs cables of
// one kind.
Result<ZeroLoad> zero_load_latency(const Scenario& scenario);

}  // namespace weft
