// SPDX-License-Identifier: Apache-2.0
// What weft sim was asked to do, for its record.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft::app {

struct SimulatedProgram {
  std::string path;
  std::vector<std::string> words;  // As they were typed, with arguments.
};

// Writes settings.json and machine-used.toml, which reads as --net, and the graph file that the
// network came from, if there is one.
Status write_sim_settings(const SimulationOptions& options, const SimulationSetup& setup,
                          const SimulatedProgram& program);

}  // namespace weft::app
