// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/test_networks.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/network/route/path.hpp>
#include <weft/network/route/policy.hpp>

namespace weft {
namespace {

Topology irregular() {
  constexpr std::uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {4, 0}, {2, 5},
                                       {5, 6}, {6, 7}, {7, 8}, {8, 5}, {8, 1}, {9, 6}, {9, 3}};
  Graph::Parts parts;
  parts.port_count.assign(10, 0);
  for (const auto& [a, b] : ends)
    parts.cables.push_back({.a = RouterId(a),
                            .a_port = parts.port_count[a]++,
                            .b = RouterId(b),
                            .b_port = parts.port_count[b]++});
  for (const std::uint32_t r : {0u, 0u, 1u, 2u, 3u, 4u, 5u, 7u, 7u, 8u, 9u})
    parts.router_of.push_back(RouterId(r));
  parts.link_classes = {"cable"};
  auto graph = Graph::make(std::move(parts));
  WEFT_CHECK(graph.has_value());
  return {.name = "irregular", .shape = plain_shape(), .graph = std::move(*graph)};
}

}  // namespace

Topology test_network(std::string_view spec) {
  if (spec == "irregular") return irregular();
  auto made = make_topology(spec);
  WEFT_CHECK(made.has_value());
  return std::move(*made);
}

std::vector<std::string_view> test_network_specs() {
  return {"mesh:4x4",
          "mesh:5x3",
          "mesh:3x4,p=2",
          "mesh:3x2x3",
          "torus:4x4",
          "torus:5x4",
          "torus:3x3x3",
          "torus:4x3,p=2",
          "ring:8",
          "ring:3",
          "cube:4x3x2,wrap=101",
          "cube:3x4x3,wrap=010",
          "tofu:3x3x2",
          "hypercube:4",
          "fattree:k=2,levels=3",
          "fattree:k=4,levels=2",
          "fattree:radix=6,levels=3",
          "fattree:k=4,levels=2,taper=2",
          "xgft:m=3x2x4,w=1x2x3",
          "xgft:m=4x3x2,w=1x3x1",
          "xgft:m=3x20,w=1x18",
          "dragonfly:a=4,h=2,p=2",
          "dragonfly:a=4,h=2,p=1,g=4",
          "dragonfly:a=3,h=1,p=1,g=3",
          "dragonfly:a=2,h=3,p=1,g=2",
          "hyperx:4x3",
          "hyperx:3x3x2,p=2",
          "complete:5",
          "slimfly:q=4,p=1",
          "polarfly:q=3,p=1",
          "random:n=18,d=3",
          "xpander:d=4,lift=4",
          "irregular"};
}

Topology break_cables(const Topology& topology, const std::vector<LinkId>& links) {
  const Graph& graph = topology.graph;
  Graph::Parts parts;
  const auto broken = [&](LinkId link) {
    return std::find(links.begin(), links.end(), link) != links.end();
  };
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const auto ports = graph.ports(RouterId(r));
    parts.port_count.push_back(static_cast<std::uint16_t>(ports.size()));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const LinkId link = graph.link(RouterId(r), static_cast<int>(p));
      if (!ports[p].connected()) continue;
      const LinkId back = graph.link(ports[p].peer, ports[p].peer_port);
      if (back < link) continue;
      parts.cables.push_back({.a = RouterId(r),
                              .a_port = static_cast<std::uint16_t>(p),
                              .b = ports[p].peer,
                              .b_port = ports[p].peer_port,
                              .link_class = ports[p].link_class,
                              .up = ports[p].up && !broken(link) && !broken(back)});
    }
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    parts.router_of.push_back(graph.router_of(NodeId(n)));
  parts.link_classes = graph.link_classes();
  auto made = Graph::make(std::move(parts));
  WEFT_CHECK(made.has_value());
  return {.name = topology.name, .shape = topology.shape, .graph = std::move(*made)};
}

int pairs_on_busiest_link(const Topology& topology, std::string_view routing, int vcs) {
  const Graph& graph = topology.graph;
  const auto policy = make_policy(routing, topology, vcs);
  EXPECT_TRUE(policy) << policy.error().text();
  std::vector<int> pairs(graph.link_count(), 0);
  std::vector<LinkId> links;
  for (std::uint32_t a = 0; a < graph.node_count(); ++a)
    for (std::uint32_t b = 0; b < graph.node_count(); ++b) {
      EXPECT_TRUE(follow_path(**policy, graph, NodeId(a), NodeId(b), links));
      for (const LinkId link : links) ++pairs[link.index];
    }
  return *std::max_element(pairs.begin(), pairs.end());
}

}  // namespace weft
