// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/distance_table.hpp"

#include <algorithm>
#include <string>

namespace weft::detail {
namespace {

std::vector<RouterId> routers_with_nodes(const Graph& graph) {
  std::vector<RouterId> found;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    if (!graph.nodes_at(RouterId(r)).empty()) found.push_back(RouterId(r));
  return found;
}

bool intact(const Graph& graph) {
  for (std::uint32_t l = 0; l < graph.link_count(); ++l)
    if (!graph.port(LinkId(l)).up) return false;
  return true;
}

}  // namespace

Status DistanceTable::fits(const Topology& topology, std::string_view policy, int planes,
                           bool wide) {
  const std::uint64_t pairs = static_cast<std::uint64_t>(topology.graph.router_count()) *
                              routers_with_nodes(topology.graph).size();
  const std::uint64_t bytes = pairs * static_cast<std::uint64_t>(planes) * (wide ? 2 : 1);
  if (bytes <= bytes_max) return {};
  return Error::input("routing '" + std::string(policy) + "' on " + topology.name +
                      " would need tables of " + std::to_string(bytes >> 20) +
                      " MiB, more than the " + std::to_string(bytes_max >> 20) +
                      " MiB allowed; use a policy made for the family of the network");
}

DistanceTable::DistanceTable(const Topology& topology, bool wide)
    : wide_(wide),
      routers_(topology.graph.router_count()),
      destinations_(routers_with_nodes(topology.graph)),
      row_of_(routers_, no_row) {
  for (std::size_t i = 0; i < destinations_.size(); ++i)
    row_of_[destinations_[i].index] = static_cast<std::uint32_t>(i);
  if (wide)
    two_bytes_.assign(destinations_.size() * routers_, unreachable);
  else
    one_byte_.assign(destinations_.size() * routers_, 0xff);
}

void DistanceTable::set(RouterId to, std::span<const std::uint16_t> distances) {
  const std::size_t begin = std::size_t{row_of_[to.index]} * routers_;
  for (std::size_t r = 0; r < routers_; ++r) {
    if (wide_) {
      two_bytes_[begin + r] = distances[r];
    } else {
      WEFT_CHECK(distances[r] < 0xff || distances[r] == unreachable);
      one_byte_[begin + r] = static_cast<std::uint8_t>(std::min<int>(distances[r], 0xff));
    }
  }
}

int search(const Graph& graph, RouterId from, std::span<std::uint16_t> distances,
           std::vector<RouterId>& queue) {
  std::fill(distances.begin(), distances.end(), DistanceTable::unreachable);
  queue.clear();
  queue.push_back(from);
  distances[from.index] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const Port& port : graph.ports(queue[head])) {
      if (!port.usable() || distances[port.peer.index] != DistanceTable::unreachable) continue;
      distances[port.peer.index] = static_cast<std::uint16_t>(distances[queue[head].index] + 1);
      queue.push_back(port.peer);
    }
  return distances[queue.back().index];
}

int find_diameter(const Topology& topology, int enough) {
  const Graph& graph = topology.graph;
  const std::optional<int> known = topology.shape->diameter_max();
  if (known && intact(graph)) return *known;
  const std::vector<RouterId> ends = routers_with_nodes(graph);
  std::vector<std::uint16_t> distances(graph.router_count());
  std::vector<RouterId> queue;
  // A second or so of searching; a policy's table of this size takes as long.
  const bool small = ends.size() * std::uint64_t{graph.link_count()} < 1'000'000'000;
  int diameter = 0;
  for (const RouterId to : ends) {
    const int farthest = search(graph, to, distances, queue);
    if (!small && queue.size() == graph.router_count()) return 2 * farthest;
    for (const RouterId from : ends)
      if (distances[from.index] != DistanceTable::unreachable)
        diameter = std::max<int>(diameter, distances[from.index]);
    if (diameter > enough) break;
  }
  return diameter;
}

}  // namespace weft::detail
