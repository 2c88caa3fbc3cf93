// SPDX-License-Identifier: Apache-2.0
// Connection statistics as JSON, for simulated and real runs.
#pragma once

#include <nlohmann/json.hpp>

#include <weft/message/conn/options.hpp>

namespace weft {

// Totals over all ranks. Each connection has two ends but is counted once.
inline nlohmann::ordered_json counts_json(const conn::Counts& sum) {
  return {{"held_most", sum.held_most},
          {"opened", sum.opened / 2},
          {"shortcuts", sum.shortcuts / 2},
          {"evicted", sum.evicted},
          {"declined", sum.declined},
          {"refused", sum.refused},
          {"relayed", sum.relayed_frames},
          {"relayed_bytes", sum.relayed_bytes},
          {"passed_frames", sum.passed_frames},
          {"passed_bytes", sum.passed_bytes},
          {"passing_bytes_most", sum.passing_most},
          {"repeated_frames", sum.repeated}};
}

}  // namespace weft
