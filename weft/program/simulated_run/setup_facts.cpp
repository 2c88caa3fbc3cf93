// SPDX-License-Identifier: Apache-2.0
#include <weft/program/simulated_run/setup_facts.hpp>

namespace weft {

NetworkFacts facts_of(const SimulationSetup& setup) {
  const Graph& graph = setup.machine.topology->graph;
  NetworkFacts facts = facts_of(*setup.machine.topology);
  const auto buffer =
      static_cast<double>(setup.machine.hardware.buffer_size().count) * setup.machine.hardware.vcs;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const auto ports = graph.ports(RouterId(r));
    std::size_t inputs = graph.nodes_at(RouterId(r)).size();
    for (const Port& port : ports) {
      inputs += port.usable() ? 1 : 0;
      const std::string& name = port.connected() ? graph.link_classes()[port.link_class] : "";
      facts.link_byte_per_s.push_back(setup.machine.hardware.cabling(name).rate.in_byte_per_s());
    }
    facts.router_buffer_bytes.push_back(static_cast<double>(inputs) * buffer);
  }
  facts.injection_byte_per_s.assign(graph.node_count(),
                                    setup.machine.hardware.injection_rate().in_byte_per_s());
  facts.ejection_byte_per_s.assign(graph.node_count(),
                                   setup.machine.hardware.ejection_rate().in_byte_per_s());
  return facts;
}

}  // namespace weft
