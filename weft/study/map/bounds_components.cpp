// SPDX-License-Identifier: Apache-2.0
// Ranks that hang together but do not fit one router: whatever the map, some of their talks leave
// it.
#include <algorithm>
#include <numeric>

#include <weft/study/map/bounds_parts.hpp>

namespace weft::map {

namespace {

std::uint32_t find(std::vector<std::uint32_t>& parent, std::uint32_t r) {
  while (parent[r] != r) r = parent[r] = parent[parent[r]];
  return r;
}

// The most slots that a router has.
std::uint32_t most_slots(const Problem& problem) {
  const Graph& graph = problem.topology().graph;
  std::vector<std::uint32_t> slots(graph.router_count(), 0);
  for (std::uint32_t s = 0; s < problem.slots(); ++s)
    ++slots[graph.router_of(problem.node(s)).index];
  return *std::max_element(slots.begin(), slots.end());
}

}  // namespace

double component_bound(const Problem& problem, Count count) {
  std::vector<std::uint32_t> parent(problem.ranks());
  std::iota(parent.begin(), parent.end(), 0u);
  for (std::uint32_t r = 0; r < problem.ranks(); ++r)
    for (const Talk& talk : problem.talks(r)) parent[find(parent, r)] = find(parent, talk.peer);
  std::vector<std::uint32_t> members(problem.ranks(), 0);
  std::vector<std::vector<double>> talks(problem.ranks());
  for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
    ++members[find(parent, r)];
    for (const Talk& talk : problem.talks(r))
      if (talk.peer > r) talks[find(parent, r)].push_back(weight(talk, count));
  }
  const std::uint32_t room = most_slots(problem);
  // Leaves of a tree are not neighbours.
  const double apart = problem.topology().shape->tree() != nullptr ? 2 : 1;
  double sum = 0;
  for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
    // In k groups, at least k - 1 talks are between groups; not lighter than the lightest.
    const std::size_t cut = (members[r] + room - 1) / room;
    if (cut < 2) continue;
    std::vector<double>& list = talks[r];
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(cut - 1);
    std::nth_element(list.begin(), middle - 1, list.end());
    sum = std::accumulate(list.begin(), middle, sum);
  }
  return sum * apart;
}

}  // namespace weft::map
