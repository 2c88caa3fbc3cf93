// SPDX-License-Identifier: Apache-2.0
// The machine that a program is simulated on, read from a network file or made for a spec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/nodes/node_model.hpp>
#include <weft/simulate/nodes/placement.hpp>
#include <weft/simulate/router/machine.hpp>
#include <weft/simulate/setup/plan.hpp>

namespace weft {

struct Scene {
  std::shared_ptr<const Topology> topology;
  std::unique_ptr<Policy> policy;
  std::string routing;
  Machine machine;
  NodeModel node;
  mp::Options messages;
  std::unique_ptr<Placement> placement;
  std::vector<RouterId> watched;
  std::shared_ptr<const conn::Layout> layout;  // Null: connections cost nothing.
  conn::Options connections;

  std::uint32_t nodes() const {
    return topology->graph.node_count() / static_cast<std::uint32_t>(node.rails);
  }
};

// Errors name file and line, or the option. A spec gets the routers of the NSIM paper's torus.
Result<Scene> read_scene(const Plan& plan);

// The paper's numbers, for networks that are given as a spec.
Machine paper_machine();

}  // namespace weft
