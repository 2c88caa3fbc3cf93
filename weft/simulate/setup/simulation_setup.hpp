// SPDX-License-Identifier: Apache-2.0
// All that a simulated run begins with: the machine, its routing, and where ranks and connections
// are.
#pragma once

#include <memory>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/machine/description.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/simulate/nodes/placement.hpp>
#include <weft/simulate/setup/simulation_options.hpp>

namespace weft {

struct SimulationSetup {
  MachineDescription machine;
  Fidelity model = Fidelity::packet;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<Placement> placement;
  std::vector<RouterId> watched;
  std::shared_ptr<const conn::Layout> layout;  // Null: connections cost nothing.
  conn::Options connections;
};

// Slots for ranks on each node: as was asked, or where cores are described as many as cores, or
// more if ranks must share them; else one.
std::uint32_t slots_per_node(const SimulationOptions& options, const MachineDescription& machine);

// How many processors a rank is told that it has, and what OpenMP takes if nothing else is asked
// for.
std::uint32_t cores_told(const SimulationOptions& options, const SimulationSetup& setup);

// Errors name file and line, or the option.
Result<SimulationSetup> read_setup(const SimulationOptions& options);

}  // namespace weft
