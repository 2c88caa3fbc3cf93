// SPDX-License-Identifier: Apache-2.0
#include "weft/study/compare/capacity.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <weft/base/rng.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/traffic/scenario.hpp>
#include <weft/workload/patterns/pattern.hpp>

namespace weft::compare {
namespace {

constexpr std::uint32_t nodes_max_all = 4096;
constexpr std::uint64_t pairs_max = std::uint64_t{nodes_max_all} * nodes_max_all;
constexpr int random_permutations = 10;

// Seconds that a byte takes: what makes loads of links of different rates comparable.
double seconds_per_byte(Rate rate) {
  return 1 / rate.in_byte_per_s();
}

class LinkLoads {
 public:
  LinkLoads(const MachineDescription& machine, std::unique_ptr<map::Paths> paths)
      : graph_(machine.topology->graph),
        cards_(static_cast<std::uint32_t>(machine.topology->cards)),
        paths_(std::move(paths)) {
    const NetworkHardware& hardware = machine.hardware;
    for (std::uint32_t l = 0; l < graph_.link_count(); ++l) {
      const std::string& name = graph_.link_classes()[graph_.port(LinkId(l)).link_class];
      slowness_.push_back(seconds_per_byte(hardware.cabling(name).rate) / paths_->whole());
    }
    node_seconds_ = std::max(seconds_per_byte(hardware.injection_rate()),
                             seconds_per_byte(hardware.ejection_rate())) /
                    cards_;
    deltas_.by_link.assign(graph_.link_count(), 0);
    sums_.assign(graph_.link_count(), 0);
  }

  // A byte between two nodes, in equal parts over their cards; false: there is no path.
  bool add(std::uint32_t from, std::uint32_t to) {
    bool reached = true;
    for (std::uint32_t card = 0; card < cards_; ++card)
      reached &= paths_->pour(NodeId(from * cards_ + card), NodeId(to * cards_ + card),
                              1.0 / cards_, deltas_) < map::no_way_hops;
    return reached;
  }
  // Seconds that the busiest link needs for what was added, which is then forgotten; kept in the
  // sum if `keep`.
  double take_busiest(bool keep) {
    double busiest = 0;
    for (std::size_t i = 0; i < deltas_.count; ++i) {
      const std::uint32_t link = deltas_.touched[i];
      const double load = std::exchange(deltas_.by_link[link], 0);
      busiest = std::max(busiest, load * slowness_[link]);
      if (keep) sums_[link] += load;
    }
    deltas_.count = 0;
    return busiest;
  }
  double busiest_of_sum() const {
    double busiest = 0;
    for (std::size_t l = 0; l < sums_.size(); ++l)
      busiest = std::max(busiest, sums_[l] * slowness_[l]);
    return busiest;
  }
  // Bytes per second of a node that needs the busiest link for so long for each of its bytes.
  double rate(double seconds) const { return 1 / std::max(seconds, node_seconds_); }

 private:
  const Graph& graph_;
  const std::uint32_t cards_;
  std::unique_ptr<map::Paths> paths_;
  std::vector<double> slowness_, sums_;  // By link.
  map::Deltas deltas_;
  double node_seconds_ = 0;
};

// The shifts that together stand for uniform traffic: all of them, or some drawn by lot.
std::vector<std::uint32_t> choose_shifts(std::uint32_t nodes) {
  std::vector<std::uint32_t> shifts;
  if (nodes <= nodes_max_all) {
    for (std::uint32_t s = 1; s < nodes; ++s) shifts.push_back(s);
    return shifts;
  }
  Rng rng = Rng(1).stream("shifts");
  for (std::uint64_t n = std::max<std::uint64_t>(16, pairs_max / nodes); n > 0; --n)
    shifts.push_back(1 + static_cast<std::uint32_t>(rng.below(nodes - 1)));
  return shifts;
}

std::vector<std::string> named_permutations(std::uint32_t nodes) {
  std::vector<std::string> names = {"tornado", "transpose",    "bit-complement", "bit-reverse",
                                    "shuffle", "bit-rotation", "neighbour"};
  if (nodes > nodes_max_all) {  // Otherwise among the shifts that stand for uniform traffic.
    for (std::uint32_t s = 1; s <= nodes / 2; s *= 2) names.push_back(fmt::format("shift:{}", s));
    names.push_back(fmt::format("shift:{}", nodes / 2));
  }
  for (int seed = 1; seed <= random_permutations; ++seed)
    names.push_back(fmt::format("permutation:{}", seed));
  return names;
}

class Finder {
 public:
  Finder(const Topology& topology, LinkLoads& loads)
      : topology_(topology), loads_(loads), nodes_(topology.computers()) {}

  Status try_shifts(Capacity& found) {
    const std::vector<std::uint32_t> shifts = choose_shifts(nodes_);
    for (const std::uint32_t shift : shifts) {
      for (std::uint32_t n = 0; n < nodes_; ++n)
        if (Status s = add(n, (n + shift) % nodes_); !s) return s;
      weigh(fmt::format("shift:{}", shift), loads_.take_busiest(true), found);
    }
    const double parts = static_cast<double>(std::max<std::size_t>(1, shifts.size()));
    found.uniform = loads_.rate(loads_.busiest_of_sum() / parts);
    found.uniform_exact = nodes_ <= nodes_max_all;
    return {};
  }

  Status try_named(Capacity& found) {
    const Grid grid = grid_of(topology_);
    std::vector<Pattern::Share> shares;
    for (const std::string& name : named_permutations(nodes_)) {
      const auto pattern = make_pattern(name, grid, 1);
      if (!pattern) continue;  // It wants another number of nodes, or a square.
      for (std::uint32_t n = 0; n < nodes_; ++n) {
        shares.clear();
        (*pattern)->shares(NodeId(n), shares);
        for (const Pattern::Share& share : shares)
          if (Status s = add(n, share.to.index); !s) return s;
      }
      weigh(name, loads_.take_busiest(false), found);
    }
    return {};
  }

  void finish(Capacity& found) const { found.worst_permutation = loads_.rate(worst_); }

 private:
  Status add(std::uint32_t from, std::uint32_t to) {
    if (from == to || loads_.add(from, to)) return {};
    const auto cards = static_cast<std::uint32_t>(topology_.cards);
    return Error::run(fmt::format("the routing has no path from '{}' to '{}' in {}",
                                  node_name(topology_, NodeId(from * cards)),
                                  node_name(topology_, NodeId(to * cards)), topology_.name));
  }
  void weigh(const std::string& name, double busiest, Capacity& found) {
    ++found.permutations_tried;
    if (busiest <= worst_) return;
    worst_ = busiest;
    found.worst_name = name;
  }

  const Topology& topology_;
  LinkLoads& loads_;
  std::uint32_t nodes_;
  double worst_ = 0;  // Seconds of the busiest link for a byte of every node.
};

}  // namespace

Result<Capacity> find_capacity(const MachineDescription& machine) {
  const Topology& topology = *machine.topology;
  auto paths = map::make_paths(topology, machine.routing);
  if (!paths) return std::move(paths).error();
  LinkLoads loads(machine, *std::move(paths));
  Finder finder(topology, loads);
  Capacity found;
  found.paths = map::describe_paths(topology, machine.routing);
  found.spread = found.paths.starts_with("spread");
  if (Status s = finder.try_shifts(found); !s) return std::move(s).error();
  if (Status s = finder.try_named(found); !s) return std::move(s).error();
  finder.finish(found);
  return found;
}

}  // namespace weft::compare
