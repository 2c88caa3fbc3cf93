// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/routes.hpp"

#include <algorithm>
#include <bit>

#include <weft/base/rng.hpp>

namespace weft {
namespace {

// A router, by what stands before its links.
class Ports final : public PortView {
 public:
  Ports(const Graph& graph, RouterId here, const LinkQueues& queues)
      : graph_(graph), here_(here), queues_(queues) {}
  bool up(int port) const override {
    return graph_.ports(here_)[static_cast<std::size_t>(port)].usable();
  }
  Bytes free(int port, int) const override { return queues_.most() - queued(port); }
  Bytes queued(int port) const override { return queues_.queued(graph_.link(here_, port)); }

 private:
  const Graph& graph_;
  const RouterId here_;
  const LinkQueues& queues_;
};

}  // namespace

Routes::Routes(const Topology& topology, const Policy& policy, const LinkQueues& queues)
    : topology_(topology),
      policy_(policy),
      queues_(queues),
      facts_(policy.facts()),
      cube_(policy.dimension_order()),
      spreads_(!facts_.in_order && !facts_.one_path),
      has_axes_(topology.shape->lattice() != nullptr),
      whole_cube_(cube_ != nullptr && topology.graph.all_up()) {
  const std::size_t wanted = std::size_t{topology.graph.node_count()} * 4;
  if (!spreads_ || cube_ != nullptr) known_.resize(std::min(std::bit_ceil(wanted), known_max));
}

bool Routes::find(NodeId from, NodeId to, std::uint64_t bits, Path& path) {
  if (known_.empty() || !has_one_way(from, to)) return walk(from, to, bits, path);
  const std::uint64_t hash = mix((std::uint64_t{from.index} << 32) | to.index);
  Known& known = known_[hash % known_.size()];
  if (known.from != from || known.to != to) {
    known.from = NodeId(no_node);
    if (!walk(from, to, bits, known.path)) {
      path = known.path;  // As far as it goes.
      return false;
    }
    known.from = from;
    known.to = to;
  }
  path = known.path;
  return true;
}

// Where packets may choose among several ways, each takes one of those with the shortest queue: the
// first, if the policy has put them in order by queues.
const Choice& Routes::choose(RouterId here, const Choices& choices, std::uint64_t dice) const {
  if (choices.count() == 1) return choices[0];
  std::array<const Choice*, Choices::capacity> ways;
  std::size_t count = 0;
  Bytes shortest;
  for (const Choice& choice : choices.all()) {
    if (choice.escape && count > 0) continue;
    const Bytes queued = queues_.queued(topology_.graph.link(here, choice.port));
    if (count > 0 && queued > shortest) continue;
    if (count == 0 || queued < shortest) count = 0;
    shortest = queued;
    ways[count++] = &choice;
  }
  return *ways[count == 1 || facts_.looks ? 0 : dice % count];
}

// As walk(), for dimension order on a cube all of whose cables work.
void Routes::walk_cube(NodeId from, NodeId to, std::uint64_t bits, Path& path) const {
  const Graph& graph = topology_.graph;
  const detail::Grid& places = cube_->places();
  RouterId here = graph.router_of(from);
  const RouterId end = graph.router_of(to);
  const std::uint64_t target = places.word(end);
  int before = 0;
  VcMask vcs = 0;
  for (std::uint64_t state = bits; here != end;) {
    const bool first = path.steps.empty();
    const Choice way = cube_->straight(places.word(here), target, state, first);
    const LinkId link = graph.link(here, way.port);
    path.steps.push_back({link.index, !first && way.port / 2 != before / 2});
    if (way.vcs != vcs) path.vcs = std::min(path.vcs, std::popcount(vcs = way.vcs));
    before = way.port;
    state = way.state;
    here = graph.port(link).peer;
  }
}

bool Routes::walk(NodeId from, NodeId to, std::uint64_t bits, Path& path) const {
  const Graph& graph = topology_.graph;
  path.steps.clear();
  path.vcs = max_vcs;
  if (whole_cube_) {
    walk_cube(from, to, bits, path);
    return true;
  }
  Flight flight{.destination = graph.router_of(to),
                .hops = 0,
                .state = bits,
                .source_node = from,
                .destination_node = to};
  RouterId here = graph.router_of(from);
  int before = 0;
  Choices choices;
  for (std::uint64_t dice = mix(bits);; dice = mix(dice + 1)) {
    choices.clear();
    policy_.next(here, flight, Ports(graph, here, queues_), choices);
    if (choices.empty()) return false;
    if (choices[0].port == Choice::eject) return true;
    const Choice& way = choose(here, choices, dice);
    const bool straight = has_axes_ && way.port / 2 == before / 2;
    before = way.port;
    path.steps.push_back({graph.link(here, way.port).index, !path.steps.empty() && !straight});
    path.vcs = std::min(path.vcs, std::popcount(way.vcs));
    flight.state = way.state;
    if (flight.hops < 255) ++flight.hops;
    here = graph.port(LinkId(path.steps.back().link)).peer;
    if (path.steps.size() > static_cast<std::size_t>(facts_.hops_max)) return false;
  }
}

}  // namespace weft
