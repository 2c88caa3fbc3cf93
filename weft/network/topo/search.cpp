// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/search.hpp"

namespace weft {

std::vector<int> distances_from(const Graph& graph, RouterId from) {
  std::vector<int> away(graph.router_count(), -1);
  std::vector<RouterId> queue{from};
  queue.reserve(graph.router_count());
  away[from.index] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const RouterId here = queue[i];
    for (const Port& port : graph.ports(here)) {
      if (!port.usable() || away[port.peer.index] >= 0) continue;
      away[port.peer.index] = away[here.index] + 1;
      queue.push_back(port.peer);
    }
  }
  return away;
}

std::optional<std::vector<LinkId>> shortest_path(const Graph& graph, RouterId from, RouterId to) {
  const std::vector<int> away = distances_from(graph, to);  // Cables are two-way.
  if (away[from.index] < 0) return std::nullopt;
  std::vector<LinkId> path;
  for (RouterId here = from; here != to;) {
    const auto ports = graph.ports(here);
    int port = 0;
    while (!ports[static_cast<std::size_t>(port)].usable() ||
           away[ports[static_cast<std::size_t>(port)].peer.index] != away[here.index] - 1)
      ++port;
    path.push_back(graph.link(here, port));
    here = ports[static_cast<std::size_t>(port)].peer;
  }
  return path;
}

std::optional<std::pair<NodeId, NodeId>> find_cut_off(const Graph& graph, int cards) {
  const auto step = static_cast<std::uint32_t>(cards);
  for (std::uint32_t first = 0; first < step && first < graph.node_count(); ++first) {
    const std::vector<int> away = distances_from(graph, graph.router_of(NodeId(first)));
    for (std::uint32_t n = first; n < graph.node_count(); n += step)
      if (away[graph.router_of(NodeId(n)).index] < 0) return std::pair(NodeId(first), NodeId(n));
  }
  return std::nullopt;
}

}  // namespace weft
