// SPDX-License-Identifier: Apache-2.0
// Bounds from links: what must cross a cut or leave a node, over the links there are.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include <weft/network/topo/search.hpp>
#include <weft/study/map/bounds_parts.hpp>

namespace weft::map {

namespace {

// Routers that take this many ranks: the most they can send.
struct Exit {
  double width = 0;  // Ports, each over its slowness: bytes that go out while a link's worth does.
  std::size_t ports = 0;
};

double over(double bytes, double width) {
  return bytes > 0 && width > 0 ? bytes / width : 0;
}

class LinkArguments {
 public:
  LinkArguments(const Problem& problem, Paths& paths);

  void mean(double hop_bytes) { offer(over(hop_bytes, all_width_), Argument::mean_link); }
  void pinned();
  void by_rank();
  LinkBound best() const { return best_; }

 private:
  void add_router(RouterId r);
  void offer(double bytes, Argument by);
  void one_direction(bool out);
  void one_rank(std::uint32_t rank, const std::vector<double>& sorted);
  double crowd(std::size_t stay, std::size_t ports) const;

  const Problem& problem_;
  Paths& paths_;
  std::map<std::uint32_t, Exit> exits_;  // By slots of the router.
  std::vector<Exit> exit_;               // By router.
  std::vector<std::uint32_t> slots_;     // By router.
  double all_width_ = 0, slot_width_ = 0;
  double slow_min_ = std::numeric_limits<double>::infinity();
  double slow_max_ = 0;
  std::size_t ports_max_ = 1;
  double parts_ = 1;  // A flow leaves and arrives in at most this many parts.
  double step_ = 0;   // Loads are multiples of this; 0: of nothing known.
  LinkBound best_;
  RankMap map_;                 // For pinned ranks.
  std::vector<double> first_;   // Sums of the first 0, 1, 2, ... flows of the rank at hand.
  std::vector<double> leaves_;  // By rank, where all routers take the same number of ranks.
  double leave_sum_ = 0;
};

LinkArguments::LinkArguments(const Problem& problem, Paths& paths)
    : problem_(problem), paths_(paths) {
  const Topology& topology = problem.topology();
  const Graph& graph = topology.graph;
  exit_.resize(graph.router_count());
  slots_.assign(graph.router_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    slots_[graph.router_of(NodeId(n)).index] += problem.slots_at(NodeId(n));
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) add_router(RouterId(r));
  std::size_t parts = ports_max_;
  const Lattice* const lattice = topology.shape->lattice();
  if (lattice != nullptr && graph.all_up()) {
    parts = 0;
    for (std::size_t axis = 0; axis < lattice->radix.size(); ++axis)
      parts += lattice->wrap[axis] && lattice->radix[axis] % 2 == 0 ? 2 : 1;
  }
  parts_ =
      static_cast<double>(std::min<std::size_t>(std::max<std::size_t>(1, parts), paths.whole()));
  if (slow_min_ == slow_max_) step_ = common_part(problem) / paths.whole() * slow_min_;
  if (problem.any_fixed()) map_ = problem.in_order();
}

void LinkArguments::add_router(RouterId r) {
  const Graph& graph = problem_.topology().graph;
  Exit& exit = exit_[r.index];
  const auto ports = graph.ports(r);
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (!ports[p].usable()) continue;
    const double slow = problem_.slowness(graph.link(r, static_cast<int>(p)));
    const double width = slow > 0 ? 1 / slow : std::numeric_limits<double>::infinity();
    exit.width += width;
    ++exit.ports;
    slow_min_ = std::min(slow_min_, slow);
    slow_max_ = std::max(slow_max_, slow);
  }
  all_width_ += exit.width;
  ports_max_ = std::max(ports_max_, exit.ports);
  if (slots_[r.index] == 0) return;
  slot_width_ += exit.width;
  Exit& most = exits_[slots_[r.index]];
  most.width = std::max(most.width, exit.width);
  most.ports = std::max(most.ports, exit.ports);
}

void LinkArguments::offer(double bytes, Argument by) {
  const double sure = step_ > 0 ? round_up(bytes, step_) : bytes * below_one;
  if (sure > best_.bytes) best_ = {sure, by};
}

void LinkArguments::pinned() {
  if (!problem_.any_fixed()) return;
  std::vector<double> loads(problem_.topology().graph.link_count(), 0);
  for (const Flow& f : problem_.traffic().flows()) {
    if (f.from == f.to || !problem_.is_fixed(f.from) || !problem_.is_fixed(f.to)) continue;
    const auto way = paths_.between(problem_.node(map_[f.from]), problem_.node(map_[f.to]));
    for (const Crossing& c : way) loads[c.link] += static_cast<double>(f.bytes) * c.share;
  }
  double most = 0;
  for (std::uint32_t l = 0; l < loads.size(); ++l)
    most = std::max(most, loads[l] / paths_.whole() * problem_.slowness(LinkId(l)));
  offer(most, Argument::pinned);
}

void LinkArguments::by_rank() {
  if (slow_max_ == 0) return;
  one_direction(true);
  one_direction(false);
}

// Leaves out the `stay` heaviest flows, which may end where they begin. Among the first
// m * ports + 1 others, some link carries m + 1, which are not lighter than the last m + 1.
double LinkArguments::crowd(std::size_t stay, std::size_t ports) const {
  const std::size_t flows = first_.size() - 1;
  if (stay >= flows) return 0;
  if (parts_ > 1) return (first_[stay + 1] - first_[stay]) / parts_;
  double most = 0;
  for (std::size_t m = 0; ports > 0 && stay + m * ports < flows; ++m) {
    const std::size_t end = stay + m * ports + 1;
    most = std::max(most, first_[end] - first_[end - m - 1]);
  }
  return most;
}

void LinkArguments::one_rank(std::uint32_t rank, const std::vector<double>& sorted) {
  first_.assign(1, 0);
  for (const double bytes : sorted) first_.push_back(first_.back() + bytes);
  const auto leave = [&](std::uint32_t slots) {
    return first_.back() - first_[std::min<std::size_t>(slots - 1, sorted.size())];
  };
  double width = std::numeric_limits<double>::infinity(), flows = width;
  const auto at = [&](std::uint32_t slots, const Exit& exit) {
    width = std::min(width, over(leave(slots), exit.width));
    flows = std::min(flows, crowd(slots - 1, exit.ports) * slow_min_);
  };
  if (problem_.any_fixed() && problem_.is_fixed(rank)) {
    const RouterId r = problem_.topology().graph.router_of(problem_.node(map_[rank]));
    at(slots_[r.index], exit_[r.index]);
  } else {
    for (const auto& [slots, exit] : exits_) at(slots, exit);
  }
  leaves_.push_back(leave(exits_.rbegin()->first));
  leave_sum_ += leaves_.back();
  offer(width, Argument::bytes_of_a_rank);
  offer(flows, Argument::heaviest_flows);
}

void LinkArguments::one_direction(bool out) {
  leaves_.clear();
  leave_sum_ = 0;
  std::vector<double> sorted;
  for (std::uint32_t r = 0; r < problem_.ranks(); ++r) {
    sorted.clear();
    for (const Talk& talk : problem_.talks(r)) {
      const double bytes = out ? talk.out : talk.in;
      if (bytes > 0) sorted.push_back(bytes);
    }
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    one_rank(r, sorted);
  }
  offer(over(leave_sum_, slot_width_), Argument::bytes_of_all);
  if (exits_.size() > 1 || problem_.ranks() < problem_.slots()) return;
  // Every router is full: beside the rank that sends the most are at least the lightest others.
  const auto& [slots, exit] = *exits_.begin();
  std::sort(leaves_.begin(), leaves_.end());
  double group = leaves_.back();
  for (std::uint32_t i = 0; i + 1 < slots; ++i) group += leaves_[i];
  offer(over(group, exit.width), Argument::bytes_of_a_rank);
}

bool connected(const Problem& problem) {
  const Graph& graph = problem.topology().graph;
  const std::vector<int> distance = distances_from(graph, graph.router_of(problem.node(0)));
  for (std::uint32_t s = 0; s < problem.slots(); ++s)
    if (distance[graph.router_of(problem.node(s)).index] < 0) return false;
  return true;
}

}  // namespace

bool surely_complete(const Problem& problem, Paths& paths) {
  constexpr std::uint64_t pairs_max = std::uint64_t{1} << 18;
  const Topology& topology = problem.topology();
  if (!connected(problem)) return false;
  if (topology.graph.all_up()) return true;  // Every policy delivers where nothing is broken.
  std::vector<NodeId> nodes;
  for (std::uint32_t n = 0; n < topology.graph.node_count(); ++n)
    if (problem.slots_at(NodeId(n)) > 0) nodes.push_back(NodeId(n));
  if (nodes.size() * nodes.size() > pairs_max)
    return describe_paths(topology, problem.routing()).starts_with("spread");
  for (const NodeId a : nodes)
    for (const NodeId b : nodes)
      if (paths.hops(a, b) == no_way_hops) return false;
  return true;
}

LinkBound link_bound(const Problem& problem, Paths& paths, double hop_bytes) {
  LinkArguments arguments(problem, paths);
  arguments.pinned();
  if (surely_complete(problem, paths)) {
    arguments.by_rank();
    arguments.mean(hop_bytes);
  }
  return arguments.best();
}

}  // namespace weft::map
