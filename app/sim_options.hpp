// SPDX-License-Identifier: Apache-2.0
// The options of weft sim, and the plan that they make.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>
#include <weft/simulate/setup/plan.hpp>

namespace weft::app {

struct SimOptions {
  Plan plan;
  std::int64_t ranks = 0, ranks_per_node = 1;
  std::string payload = "none", compute = "none", stack, until, series;
  std::string watch_from, watch_until, watch_every;
  std::string record;
  std::string live;  // "true", or a port; empty: no page.
  bool list_collectives = false, ranks_given = false;
};

// Returns the option for the number of ranks.
CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options);

// Checks them, and completes the plan.
Status complete(SimOptions options, Plan& plan);

// "auto", or an interval.
Status read_series(const std::string& text, Plan& plan);

}  // namespace weft::app
