// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

namespace {

std::vector<std::uint32_t> count_up(std::uint32_t n) {
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace

Result<Problem> Problem::make(std::shared_ptr<const Topology> topology, TrafficMatrix traffic,
                              Request request) {
  Problem made;
  const Graph& graph = topology->graph;
  if (request.routing.empty()) request.routing = default_judging(*topology);
  std::vector<bool> closed(graph.node_count(), false);
  for (const NodeId n : request.forbidden) closed[n.index] = true;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    made.first_slot_.push_back(made.slots());
    if (!closed[n]) made.slot_node_.insert(made.slot_node_.end(), request.slots_per_node, n);
  }
  made.first_slot_.push_back(made.slots());
  if (traffic.ranks() > made.slots()) {
    return Error::input(fmt::format(
        "{} ranks do not fit {} slots ({} of {} nodes, {} each); give more ranks per node or a "
        "larger network",
        traffic.ranks(), made.slots(), made.slots() / std::max(1u, request.slots_per_node),
        graph.node_count(), request.slots_per_node));
  }
  if (!request.link_slowness.empty()) {
    for (std::uint32_t l = 0; l < graph.link_count(); ++l)
      made.slowness_.push_back(request.link_slowness[graph.port(LinkId(l)).link_class]);
  }
  made.topology_ = std::move(topology);
  made.traffic_ = std::move(traffic);
  made.request_ = std::move(request);
  made.add_talks();
  if (Status s = made.place_fixed(); !s) return std::move(s).error();
  return made;
}

void Problem::add_talks() {
  struct Half {
    std::uint32_t rank, peer;
    double bytes;
    bool sends;
  };
  std::vector<Half> halves;
  halves.reserve(2 * traffic_.flows().size());
  for (const Flow& f : traffic_.flows()) {
    if (f.from == f.to) continue;
    ++pairs_;
    halves.push_back({f.from, f.to, static_cast<double>(f.bytes), true});
    halves.push_back({f.to, f.from, static_cast<double>(f.bytes), false});
  }
  std::sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
    return std::tie(a.rank, a.peer, a.sends) < std::tie(b.rank, b.peer, b.sends);
  });
  first_talk_.assign(slots() + 1, 0);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const Half& h = halves[i];
    if (i == 0 || halves[i - 1].rank != h.rank || halves[i - 1].peer != h.peer) {
      talks_.push_back({.peer = h.peer});
      ++first_talk_[h.rank + 1];
    }
    Talk& talk = talks_.back();
    (h.sends ? talk.out : talk.in) = h.bytes;
    (h.sends ? talk.sends : talk.hears) = true;
    ++talk.directions;
  }
  std::partial_sum(first_talk_.begin(), first_talk_.end(), first_talk_.begin());
}

Status Problem::place_fixed() {
  fixed_slot_.assign(slots(), anywhere);
  fixed_.assign(slots(), false);
  std::vector<std::uint32_t> taken(topology_->graph.node_count(), 0);
  for (std::uint32_t r = 0; r < request_.fixed.size(); ++r) {
    const std::uint32_t node = request_.fixed[r];
    if (node == anywhere) continue;
    if (r >= ranks())
      return Error::input(fmt::format("rank {} is fixed, but there are {} ranks", r, ranks()));
    if (taken[node] == slots_at(NodeId(node))) {
      return Error::input(fmt::format("rank {} is fixed to {}, which {}", r,
                                      node_name(*topology_, NodeId(node)),
                                      taken[node] == 0 ? "is forbidden" : "has no slot left"));
    }
    fixed_slot_[r] = first_slot_[node] + taken[node]++;
    fixed_[r] = any_fixed_ = true;
  }
  return {};
}

RankMap Problem::in_order() const {
  const auto numbers = count_up(slots());
  return in_order(numbers, numbers);
}

RankMap Problem::in_order(std::span<const std::uint32_t> ranks,
                          std::span<const std::uint32_t> order) const {
  RankMap map = fixed_slot_;
  std::vector<bool> used(slots(), false);
  for (const std::uint32_t slot : map)
    if (slot != anywhere) used[slot] = true;
  std::size_t next = 0;
  for (const std::uint32_t r : ranks) {
    if (map[r] != anywhere) continue;
    while (used[order[next]]) ++next;
    map[r] = order[next++];
  }
  return map;
}

bool Problem::is_map(const RankMap& map) const {
  if (map.size() != slots()) return false;
  std::vector<bool> used(slots(), false);
  for (std::uint32_t r = 0; r < map.size(); ++r) {
    if (map[r] >= slots() || used[map[r]]) return false;
    used[map[r]] = true;
    if (fixed_[r] && slot_node_[map[r]] != slot_node_[fixed_slot_[r]]) return false;
  }
  return true;
}

Result<RankMap> Problem::from_nodes(std::span<const std::uint32_t> nodes) const {
  RankMap map(slots(), anywhere);
  std::vector<std::uint32_t> taken(topology_->graph.node_count(), 0);
  for (std::uint32_t r = 0; r < nodes.size(); ++r) {
    const NodeId node(nodes[r]);
    const std::string name = node_name(*topology_, node);
    if (slots_at(node) == 0)
      return Error::input(fmt::format("rank {} is on {}, which is forbidden", r, name));
    if (taken[node.index] == slots_at(node)) {
      return Error::input(fmt::format("rank {} is one too many on {}, which has {} slot{}", r, name,
                                      slots_at(node), slots_at(node) == 1 ? "" : "s"));
    }
    if (fixed_[r] && slot_node_[fixed_slot_[r]] != node.index)
      return Error::input(fmt::format("rank {} is on {}, but fixed elsewhere", r, name));
    map[r] = first_slot_[node.index] + taken[node.index]++;
  }
  std::vector<bool> used(slots(), false);
  for (std::size_t r = 0; r < nodes.size(); ++r) used[map[r]] = true;
  std::uint32_t next = 0;
  for (std::size_t r = nodes.size(); r < map.size(); ++r) {
    while (used[next]) ++next;
    map[r] = next++;
  }
  return map;
}

std::vector<std::uint32_t> Problem::to_nodes(const RankMap& map) const {
  std::vector<std::uint32_t> nodes(ranks());
  for (std::uint32_t r = 0; r < ranks(); ++r) nodes[r] = slot_node_[map[r]];
  return nodes;
}

}  // namespace weft::map
