// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/path.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/network/topo/search.hpp>
#include <weft/study/map/lattice_paths.hpp>
#include <weft/study/map/paths.hpp>

namespace weft::map {

namespace {

// Paths that were asked for lately.
class Memo {
 public:
  struct Entry {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint32_t hops = 0;
    std::vector<Crossing> crossings;
  };
  explicit Memo(std::size_t entries) : entries_(entries) {}

  // The entry of this pair, and whether it still has to be filled in.
  std::pair<Entry*, bool> find(NodeId from, NodeId to) {
    const std::uint64_t key = (std::uint64_t{from.index} << 32) | to.index;
    Entry& entry = entries_[mix(key) % entries_.size()];
    const bool stale = entry.key != key;
    entry.key = key;
    return {&entry, stale};
  }

 private:
  std::vector<Entry> entries_;
};

constexpr std::size_t memo_entries = std::size_t{1} << 16;

// Follows the one way that a policy has.
class WalkedPaths final : public Paths {
 public:
  WalkedPaths(const Topology& topology, std::unique_ptr<Policy> policy)
      : graph_(topology.graph), policy_(std::move(policy)), memo_(memo_entries) {}

  std::span<const Crossing> between(NodeId from, NodeId to) override {
    return look_up(from, to).crossings;
  }
  std::uint32_t hops(NodeId from, NodeId to) override { return look_up(from, to).hops; }

 private:
  const Memo::Entry& look_up(NodeId from, NodeId to) {
    const auto [entry, stale] = memo_.find(from, to);
    if (stale) walk(from, to, *entry);
    return *entry;
  }

  void walk(NodeId from, NodeId to, Memo::Entry& entry) {
    entry.crossings.clear();
    if (!follow_path(*policy_, graph_, from, to, links_)) {
      entry.hops = no_way_hops;
      return;
    }
    for (const LinkId link : links_) entry.crossings.push_back({link.index, 1});
    entry.hops = static_cast<std::uint32_t>(links_.size());
  }

  const Graph& graph_;
  std::unique_ptr<Policy> policy_;
  std::vector<LinkId> links_;
  Memo memo_;
};

// At every router in equal parts to all neighbours that are nearer to the destination.
class SpreadPaths final : public Paths {
 public:
  explicit SpreadPaths(const Topology& topology)
      : graph_(topology.graph),
        distances_(graph_.router_count()),
        waiting_(graph_.router_count(), 0),
        memo_(memo_entries) {}

  std::span<const Crossing> between(NodeId from, NodeId to) override {
    return look_up(from, to).crossings;
  }
  std::uint32_t hops(NodeId from, NodeId to) override { return look_up(from, to).hops; }
  std::uint32_t whole() const override { return 1u << 16; }

 private:
  static constexpr std::size_t remembered_max = std::size_t{1} << 27;  // Distances, of 4 bytes.

  const std::vector<int>& distances_to(RouterId to) {
    std::vector<int>& found = distances_[to.index];
    if (!found.empty()) return found;
    if (remembered_ + graph_.router_count() > remembered_max) {
      for (std::vector<int>& one : distances_) one = {};
      remembered_ = 0;
    }
    remembered_ += graph_.router_count();
    return found = distances_from(graph_, to);  // Cables are two-way.
  }

  const Memo::Entry& look_up(NodeId from, NodeId to) {
    const auto [entry, stale] = memo_.find(from, to);
    if (stale) spread(graph_.router_of(from), graph_.router_of(to), *entry);
    return *entry;
  }

  void spread(RouterId from, RouterId to, Memo::Entry& entry) {
    entry.crossings.clear();
    const std::vector<int>& distance = distances_to(to);
    if (distance[from.index] < 0) {
      entry.hops = no_way_hops;
      return;
    }
    entry.hops = static_cast<std::uint32_t>(distance[from.index]);
    front_.assign(1, from.index);
    waiting_[from.index] = whole();
    for (int left = distance[from.index]; left > 0; --left) {
      next_.clear();
      for (const std::uint32_t r : front_) share_out(RouterId(r), left - 1, distance, entry);
      front_.swap(next_);
    }
    waiting_[to.index] = 0;
  }

  void share_out(RouterId r, int nearer, const std::vector<int>& distance, Memo::Entry& entry) {
    const auto ports = graph_.ports(r);
    std::uint32_t outputs = 0;
    for (const Port& port : ports)
      if (port.usable() && distance[port.peer.index] == nearer) ++outputs;
    std::uint32_t rest = std::exchange(waiting_[r.index], 0);
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const Port& port = ports[p];
      if (!port.usable() || distance[port.peer.index] != nearer) continue;
      const std::uint32_t part = rest / outputs--;
      if (part == 0) continue;
      rest -= part;
      if (waiting_[port.peer.index] == 0) next_.push_back(port.peer.index);
      waiting_[port.peer.index] += part;
      entry.crossings.push_back({graph_.link(r, static_cast<int>(p)).index, part});
    }
  }

  const Graph& graph_;
  std::vector<std::vector<int>> distances_;  // By destination; empty: not looked for.
  std::size_t remembered_ = 0;
  std::vector<std::uint32_t> waiting_;  // Shares that have come so far.
  std::vector<std::uint32_t> front_, next_;
  Memo memo_;
};

enum class Judging { one_way, both_at_half, spread };

bool has_ties(const Lattice& lattice) {
  for (std::size_t d = 0; d < lattice.radix.size(); ++d)
    if (lattice.wrap[d] && lattice.radix[d] % 2 == 0) return true;
  return false;
}

struct Examined {
  Judging how = Judging::spread;
  bool in_dimension_order = false;
  std::unique_ptr<Policy> policy;
};

// How packets go under a routing. Makes the policy as well, as that is the one to ask.
Result<Examined> examine(const Topology& topology, const std::string& routing) {
  auto policy = make_policy(routing, topology, std::max(1, vcs_usual(routing, topology)));
  if (!policy) return std::move(policy).error();
  const PolicyFacts facts = (*policy)->facts();
  const std::optional<TieRule> ties = dimension_order(routing, topology);
  Examined made{.in_dimension_order = ties.has_value(), .policy = *std::move(policy)};
  // One path even where its packets may use several VCs; with broken cables only the one it takes
  // by heads is followed.
  if (ties)
    made.how =
        ties == TieRule::coin && has_ties(*topology.shape->lattice()) && topology.graph.all_up()
            ? Judging::both_at_half
            : Judging::one_way;
  else if (!facts.looks && (facts.in_order || facts.one_path))
    made.how = Judging::one_way;
  return made;
}

// In each copy of a network as in the copy alone.
class PlanePaths final : public Paths {
 public:
  struct Copy {
    std::unique_ptr<Topology> network;
    std::unique_ptr<Paths> paths;
  };
  PlanePaths(const Topology& topology, std::vector<Copy> copies)
      : graph_(topology.graph), planes_(*topology.shape->planes()), copies_(std::move(copies)) {
    for (const Copy& copy : copies_) whole_ = std::max(whole_, copy.paths->whole());
  }

  std::span<const Crossing> between(NodeId from, NodeId to) override {
    crossings_.clear();
    const std::uint32_t plane = plane_of(from);
    if (plane != plane_of(to)) return crossings_;
    Paths& inner = *copies_[copies_.size() == 1 ? 0 : plane].paths;
    const std::uint32_t first = graph_.link(RouterId(plane * planes_.routers), 0).index;
    const std::uint32_t scale = whole_ / inner.whole();
    for (const Crossing& c : inner.between(end(from), end(to)))
      crossings_.push_back({first + c.link, scale * c.share});
    return crossings_;
  }
  std::uint32_t hops(NodeId from, NodeId to) override {
    const std::uint32_t plane = plane_of(from);
    if (plane != plane_of(to)) return no_way_hops;
    return copies_[copies_.size() == 1 ? 0 : plane].paths->hops(end(from), end(to));
  }
  std::uint32_t whole() const override { return whole_; }

 private:
  std::uint32_t plane_of(NodeId n) const { return graph_.router_of(n).index / planes_.routers; }
  NodeId end(NodeId n) const { return NodeId(planes_.end[n.index]); }

  const Graph& graph_;
  const Planes& planes_;
  std::vector<Copy> copies_;  // One for all, or one for each.
  std::uint32_t whole_ = 1;   // Each copy's divides it: 1, 2 or 65536.
  std::vector<Crossing> crossings_;
};

Result<std::unique_ptr<Paths>> make_plane_paths(const Topology& topology,
                                                const std::string& routing) {
  std::vector<PlanePaths::Copy> copies;
  const int different = topology.graph.all_up() ? 1 : topology.shape->planes()->count;
  for (int p = 0; p < different; ++p) {
    auto network = std::make_unique<Topology>(weft::plane_of(topology, p));
    auto paths = make_paths(*network, routing);
    if (!paths) return paths;
    copies.push_back({std::move(network), *std::move(paths)});
  }
  return std::unique_ptr<Paths>(std::make_unique<PlanePaths>(topology, std::move(copies)));
}

}  // namespace

std::uint32_t Paths::pour(NodeId from, NodeId to, double bytes, Deltas& deltas) {
  const auto crossings = between(from, to);
  deltas.reserve(crossings.size() + 1);
  for (const Crossing& c : crossings) deltas.add(c.link, bytes * c.share);
  return hops(from, to);
}

std::string default_judging(const Topology& topology) {
  return default_one_path_routing(topology);
}

Result<std::unique_ptr<Paths>> make_paths(const Topology& topology, const std::string& routing) {
  if (topology.shape->planes() != nullptr) return make_plane_paths(topology, routing);
  auto examined = examine(topology, routing);
  if (!examined) return std::move(examined).error();
  std::unique_ptr<Paths> made;
  if (examined->how == Judging::both_at_half) {
    made = std::make_unique<LatticePaths>(topology, TieRule::coin);
  } else if (examined->in_dimension_order && topology.graph.all_up()) {
    made = std::make_unique<LatticePaths>(topology, TieRule::up);
  } else if (examined->how == Judging::one_way) {
    made = std::make_unique<WalkedPaths>(topology, std::move(examined->policy));
  } else {
    made = std::make_unique<SpreadPaths>(topology);
  }
  return made;
}

std::string describe_paths(const Topology& topology, const std::string& routing) {
  if (topology.shape->planes() != nullptr) return describe_paths(plane_of(topology, 0), routing);
  const auto examined = examine(topology, routing);
  if (!examined) return "";
  switch (examined->how) {
    case Judging::one_way:
      return "one way";
    case Judging::both_at_half:
      return "one way, half-way round a ring both";
    case Judging::spread:
      return "spread evenly over shortest ways";
  }
  return "";
}

}  // namespace weft::map
