// SPDX-License-Identifier: Apache-2.0
// `shortest` on any graph, broken cables included: a shortest path, by table, the VC class rising
// by one with each hop; so a packet only waits for higher classes, and no chain can close. There
// are as many classes as the longest path has links. Shorter ones begin at a class that a hash of
// the two nodes chooses, which spreads them over all classes; it also chooses among equal next
// steps, and so each pair keeps its order.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/distance_table.hpp>
#include <weft/network/route/families.hpp>

namespace weft::detail {
namespace {

class Shortest final : public Policy {
 public:
  Shortest(const Topology& t, int classes, int vcs)
      : graph_(t.graph), table_(t, false), classes_(classes), one_each_(vcs == classes) {
    for (int c = 0; c < classes; ++c) {
      const int first = c * vcs / classes;
      masks_[static_cast<std::size_t>(c)] = vc_range(first, (c + 1) * vcs / classes - first);
    }
    std::vector<std::uint16_t> distances(graph_.router_count());
    std::vector<RouterId> queue;
    for (const RouterId to : table_.destinations()) {
      search(graph_, to, distances, queue);
      table_.set(to, distances);
    }
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const int left = table_.at(here, flight.destination);
    const std::uint64_t pair =
        mix((std::uint64_t{flight.source_node.index} << 32) | flight.destination_node.index);
    const std::uint64_t vc_class =
        flight.hops == 0 ? first_class(pair, left) : flight.state & 0xffu;
    const auto ports = graph_.ports(here);
    const auto fits = [&](std::size_t p) {
      return ports[p].usable() && view.up(static_cast<int>(p)) &&
             table_.at(ports[p].peer, flight.destination) + 1 == left;
    };
    std::uint64_t count = 0;
    for (std::size_t p = 0; p < ports.size(); ++p) count += fits(p) ? 1 : 0;
    if (count == 0) return;
    std::uint64_t skip = mix(pair + here.index) % count;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!fits(p) || skip-- != 0) continue;
      out.add(
          {.port = static_cast<std::uint16_t>(p), .vcs = masks_[vc_class], .state = vc_class + 1});
      return;
    }
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = classes_,
            .asks_source = true,
            .looks = false,
            .in_order = one_each_};
  }

 private:
  std::uint64_t first_class(std::uint64_t pair, int left) const {
    if (left >= classes_) return 0;
    return (pair >> 32) % static_cast<std::uint64_t>(classes_ - left + 1);
  }

  const Graph& graph_;
  DistanceTable table_;
  int classes_;
  bool one_each_;
  std::array<VcMask, max_vcs> masks_{};
};

int vcs_shortest(const Topology& t) {
  const int diameter = std::max(find_diameter(t, max_vcs), 1);
  return diameter <= max_vcs ? diameter : 0;
}
MadePolicy make_shortest(const Topology& t, int vcs) {
  if (const Status fits = DistanceTable::fits(t, "shortest", 1, false); !fits) return fits.error();
  return MadePolicy(std::make_unique<Shortest>(t, vcs_shortest(t), vcs));
}

}  // namespace

extern const PolicyEntry shortest_policy{
    .name = "shortest",
    .help = "shortest path on any graph, VC rising with each hop",
    .vcs_needed = &vcs_shortest,
    .make = &make_shortest,
};

}  // namespace weft::detail
