// SPDX-License-Identifier: Apache-2.0
// Statistics of connections and collectives as JSON, for simulated and real runs.
#pragma once

#include <nlohmann/json.hpp>

#include <weft/message/conn/options.hpp>
#include <weft/program/run_record/tables.hpp>

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

// {"allreduce": {"recursive-doubling": 4}}
inline nlohmann::ordered_json algorithms_json(const AlgorithmTable& algorithms) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [words, count] : algorithms) {
    const std::size_t equals = words.find('=');
    json[words.substr(0, equals)][words.substr(equals + 1)] = count;
  }
  return json;
}

}  // namespace weft
