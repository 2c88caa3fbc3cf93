// SPDX-License-Identifier: Apache-2.0
// The options of weft sim.
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
  SimulationOptions simulation;  // What needs no reading.
  std::int64_t ranks = 0, ranks_per_node = 1;
  std::string payload = "none", compute = "none", stack, until, series;
  std::string watch_from, watch_until, watch_every;
  std::string record;
  std::string live;  // "true", or a port; empty: no page.
  bool list_collectives = false, ranks_given = false;
};

// Returns the option for the number of ranks.
CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options);

// What they ask for, checked as far as no network is needed.
Result<SimulationOptions> complete(SimOptions options);

// "auto", or an interval.
Status read_series(const std::string& text, SimulationOptions& simulation);

}  // namespace weft::app
