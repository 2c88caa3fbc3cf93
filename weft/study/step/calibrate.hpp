// SPDX-License-Identifier: Apache-2.0
// Fits the flow model to the packets of a network: a few random permutations are played with both,
// and links that flows meet on are slowed down until flows take as long.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/step/step.hpp>

namespace weft {

struct CalibrationOptions {
  std::uint64_t seed = 1;
  int permutations = 4;
  Bytes message{std::int64_t{256} << 10};
  int threads = 1;  // For packets.
  const std::atomic<bool>* stop = nullptr;
};

struct Calibration {
  FlowModel model;  // As given, with the merge_efficiency that was found.
  // Flows by packets, in each permutation: with an efficiency of 1, and with the one found.
  std::vector<double> before, after;
  bool stopped = false;
};

// With the same seed, the same result on every machine.
Result<Calibration> calibrate_flows(const Arena& arena, const FlowModel& model,
                                    const CalibrationOptions& options);

}  // namespace weft
