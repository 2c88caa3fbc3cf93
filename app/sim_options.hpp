// SPDX-License-Identifier: Apache-2.0
// The command line of weft sim.
#pragma once

#include <cstdint>
#include <string>

#include "machine_options.hpp"
#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>
#include <weft/simulate/setup/simulation_options.hpp>

namespace weft::app {

struct SimOptions {
  MachineOptions machine;
  SimulationOptions simulation;                                    // Options that need no parsing.
  std::int64_t ranks = 0, ranks_per_node = 0, cores_per_rank = 0;  // 0: not given.
  std::string payload, compute = "none", stack, until, start_skew, series;
  std::string watch_from, watch_until, watch_every;
  std::string models;  // To be compared; empty: one model.
  std::string record;
  std::string live;  // "true" or a port; empty: no page.
  bool ranks_given = false, ranks_per_node_given = false, cores_per_rank_given = false;
};

// Returns the option for the number of ranks.
CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options);

// Parses the options and checks all that can be checked without the network.
Result<SimulationOptions> complete(SimOptions options);

// `text`: "auto" or an interval.
Status read_series(const std::string& text, SimulationOptions& simulation);

}  // namespace weft::app
