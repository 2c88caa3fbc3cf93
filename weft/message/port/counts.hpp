// SPDX-License-Identifier: Apache-2.0
// What a rank has done so far, counted the same way on simulated and real networks.
#pragma once

#include <cstdint>

#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>

namespace weft {

struct RankCounts {
  Duration waited;                        // For the network, inside calls.
  Duration spent;                         // By the processor.
  Duration in_mpi;                        // Of that: copies, reductions and calls of MPI.
  std::uint64_t messages = 0, bytes = 0;  // Sent.
  Time ended;
};

struct PairCount {
  RankId from, to;
  std::uint64_t messages = 0, bytes = 0;
};

}  // namespace weft
