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
  std::map<std::string, std::string> scenario;  // Others, by the names of scenario_options.
  std::vector<std::string> vary;
  std::optional<std::string> compare, basis;
  std::string load;
  bool saturation = false, all = false, brief = false, quiet = false;
  double factor = 3, search_tolerance_percent = 2, converge_percent = 1;
  std::int64_t warmup_cycles = 0, measure_cycles = 0;
  int workers = 1, jobs = 0;
  std::string partition = "automatic";
  std::string csv, json, svg, html, progress_file;
};

void add_traffic_options(CLI::App& parser, TrafficOptions& options);

// What can be said without looking at the network.
Status check_traffic_options(const TrafficOptions& options, const Job& job);

// The lists that were asked for ("--routing list"); empty when none was.
std::string asked_lists(const TrafficOptions& options);

}  // namespace weft::app
