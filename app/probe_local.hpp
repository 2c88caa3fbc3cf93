// SPDX-License-Identifier: Apache-2.0
// Measurements of weft probe --local: what calls, messages and copies cost between ranks of one
// host, through the library that programs use. Runs on all ranks of the probe program.
#pragma once

#include <atomic>

namespace weft::app {

struct LocalRequest {
  double seconds = 6;    // Measures for so long.
  bool crowded = false;  // More ranks than cores: measures what their switching costs.
  bool progress = false;
};

// Rank 0 prints what was measured, as probe::LocalMeasures reads it; nothing after Ctrl-C.
int measure_local(const LocalRequest& request, const std::atomic<bool>& interrupted);

}  // namespace weft::app
