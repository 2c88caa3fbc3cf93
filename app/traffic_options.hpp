// SPDX-License-Identifier: Apache-2.0
// The command line of weft traffic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "job.hpp"
#include "machine_options.hpp"

namespace weft::app {

struct TrafficOptions {
  MachineOptions machine;
  std::map<std::string, std::string> scenario;  // Other options, by the names of scenario_options.
  std::vector<std::string> vary;
  std::optional<std::string> compare, basis, compare_models;
  std::string load;
  bool saturation = false, all = false, brief = false, quiet = false;
  double factor = 3, search_tolerance_percent = 2, converge_percent = 1;
  std::int64_t warmup_cycles = 0, measure_cycles = 0;
  int threads = 1, jobs = 0;
  std::string partition = "automatic";
  std::string csv, json, svg, html, progress_file;
};

void add_traffic_options(CLI::App& parser, TrafficOptions& options);

// Checks all that can be checked without the network.
Status check_traffic_options(const TrafficOptions& options, const Job& job);

// The requested lists ("--routing list"); empty if none is requested.
std::string requested_lists(const TrafficOptions& options);

}  // namespace weft::app
