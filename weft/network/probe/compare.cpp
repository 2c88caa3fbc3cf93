// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace weft::probe {
namespace {

constexpr std::size_t told_max = 8;
using Side = std::vector<bool>;  // By host; never contains host 0.

struct Edges {
  std::uint32_t switches = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;
  std::vector<std::uint32_t> on;  // By host.
};

Edges edges_of(const Finding& finding) {
  Edges edges;
  edges.switches = static_cast<std::uint32_t>(finding.switches.size());
  for (const LinkFound& link : finding.links) edges.joined.emplace_back(link.a, link.b);
  for (const HostFound& host : finding.hosts) edges.on.push_back(host.on);
  return edges;
}

// Parallel cables between two routers count as one.
Edges edges_of(const Graph& graph) {
  Edges edges;
  edges.switches = graph.router_count();
  std::set<std::pair<std::uint32_t, std::uint32_t>> cables;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    for (const Port& port : graph.ports(RouterId(r)))
      if (port.usable() && port.peer.index > r) cables.emplace(r, port.peer.index);
  edges.joined.assign(cables.begin(), cables.end());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    edges.on.push_back(graph.router_of(NodeId(n)).index);
  return edges;
}

// The bipartitions of hosts that the links of a tree make.
std::set<Side> sides_of(const Edges& edges) {
  std::vector<std::vector<std::uint32_t>> next(edges.switches);
  for (const auto& [a, b] : edges.joined) {
    next[a].push_back(b);
    next[b].push_back(a);
  }
  // Walks outwards from the switch of host 0; what lies below a switch is then one side of its
  // link.
  std::vector<std::uint32_t> order = {edges.on[0]}, above(edges.switches, nowhere);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t sw : next[order[i]]) {
      if (sw == above[order[i]]) continue;
      above[sw] = order[i];
      order.push_back(sw);
    }
  }
  std::vector<Side> below(edges.switches, Side(edges.on.size()));
  for (std::size_t host = 0; host < edges.on.size(); ++host)
    if (edges.on[host] != nowhere) below[edges.on[host]][host] = true;
  std::set<Side> sides;
  for (std::size_t i = order.size(); i-- > 1;) {
    const Side& side = below[order[i]];
    Side& upper = below[above[order[i]]];
    for (std::size_t host = 0; host < side.size(); ++host)
      if (side[host]) upper[host] = true;
    if (std::find(side.begin(), side.end(), true) != side.end()) sides.insert(side);
  }
  return sides;
}

std::string name_some(const Finding& finding, const Side& side) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t host = 0; host < side.size(); ++host) {
    if (!side[host]) continue;
    if (++count <= 4) out += (out.empty() ? "" : ", ") + finding.hosts[host].name;
  }
  return count > 4 ? fmt::format("{} and {} more", out, count - 4) : out;
}

void compare_groups(const Finding& finding, const Edges& truth, Comparison& result) {
  // The true switch with most hosts of a found one, and vice versa.
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::size_t>>> found, known;
  std::size_t lost = 0;
  for (std::size_t host = 0; host < finding.hosts.size(); ++host) {
    if (finding.hosts[host].on == nowhere) {
      ++lost;
      continue;
    }
    found[finding.hosts[host].on][truth.on[host]].push_back(host);
    known[truth.on[host]][finding.hosts[host].on].push_back(host);
  }
  result.groups = lost == 0;
  if (lost > 0) result.differences.push_back(fmt::format("{} hosts are not placed", lost));
  const auto name = [&](std::size_t host) { return finding.hosts[host].name; };
  const auto report = [&](const auto& mixed, const char* format) {
    for (const auto& [sw, parts] : mixed) {
      if (parts.size() < 2) continue;
      result.groups = false;
      if (result.differences.size() >= told_max) continue;
      const auto second = std::next(parts.begin());
      result.differences.push_back(fmt::format(fmt::runtime(format), name(parts.begin()->second[0]),
                                               name(second->second[0])));
    }
  };
  report(found, "{} and {} were found on one switch but are on two");
  report(known, "{} and {} are on one switch but were found on two");
}

}  // namespace

Comparison compare(const Finding& finding, const Topology& truth) {
  Comparison result;
  const Edges known = edges_of(truth.graph);
  compare_groups(finding, known, result);
  result.truth_is_tree = known.joined.size() + 1 == known.switches;
  if (!result.truth_is_tree || !finding.tree) {
    if (result.truth_is_tree) result.differences.emplace_back("no tree was found");
    return result;
  }
  if (!result.groups) return result;
  const std::set<Side> found = sides_of(edges_of(finding)), right = sides_of(known);
  result.tree = found == right;
  const auto report = [&](const std::set<Side>& some, const std::set<Side>& others,
                          const char* what) {
    for (const Side& side : some) {
      if (others.contains(side) || result.differences.size() >= told_max) continue;
      result.differences.push_back(
          fmt::format("{}: the link to {}", what, name_some(finding, side)));
    }
  };
  report(right, found, "not found");
  report(found, right, "not there");
  return result;
}

}  // namespace weft::probe
