// SPDX-License-Identifier: Apache-2.0
// Calls, algorithms of collectives and connection statistics as JSON, for simulated and real runs.
#pragma once

#include <nlohmann/json.hpp>

#include <weft/message/conn/options.hpp>
#include <weft/program/run_record/tables.hpp>

namespace weft {

inline nlohmann::ordered_json calls_json(const CallTable& calls) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, t] : calls) {
    json[name] = {{"count", t.count},
                  {"bytes", t.bytes},
                  {"time_ps", t.inside.in_ps()},
                  {"longest_ps", t.longest.in_ps()},
                  {"longest_rank", t.longest_rank.index}};
  }
  return json;
}

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
