// SPDX-License-Identifier: Apache-2.0
// `xy-yx` (O1TURN, Seo et al., ISCA 2005) and `xy-yx-adaptive`: on a mesh, dimension order
// ascending or descending, chosen at the source. Ascending keeps to the lower half of the VCs,
// descending to the upper; each half is plain dimension order, and no packet changes halves, so
// there is no cycle.
#include <algorithm>

#include <weft/network/route/families.hpp>
#include <weft/network/route/grid.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {
namespace {

enum class Chosen { by_coin, by_credit };

class XyYx final : public Policy {
 public:
  XyYx(const Topology& t, int vcs, Chosen chosen)
      : grid_(t.shape->lattice()->radix, t.graph.router_count()),
        masks_(halves(0, vcs)),
        vcs_(vcs),
        chosen_(chosen) {
    for (const int radix : t.shape->lattice()->radix) hops_max_ += radix - 1;
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    const std::uint64_t from = grid_.word(here);
    const std::uint64_t to = grid_.word(flight.destination);
    if (from == to) return out.add_eject();
    const std::uint64_t order = flight.hops == 0 && chosen_ == Chosen::by_credit
                                    ? freer_order(from, to, view, flight.state & 1u)
                                    : flight.state & 1u;
    const int port = first_port(from, to, order);
    if (!view.up(port)) return;
    out.add({.port = static_cast<std::uint16_t>(port), .vcs = masks_[order], .state = order});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = hops_max_,
            .asks_source = false,
            .looks = chosen_ == Chosen::by_credit,
            .in_order = false};
  }

 private:
  int first_port(std::uint64_t from, std::uint64_t to, std::uint64_t order) const {
    const int axis = order == 0 ? grid_.first_axis(from ^ to) : grid_.last_axis(from ^ to);
    const bool up = grid_.coordinate(to, axis) > grid_.coordinate(from, axis);
    return up ? Lattice::up_port(axis) : Lattice::down_port(axis);
  }

  // Free over the whole port, as BookSim compares the used credits of whole outputs.
  std::int64_t room(const PortView& view, int port) const {
    if (!view.up(port)) return -1;
    std::int64_t sum = 0;
    for (int v = 0; v < vcs_; ++v) sum += view.free(port, v).count;
    return sum;
  }
  std::uint64_t freer_order(std::uint64_t from, std::uint64_t to, const PortView& view,
                            std::uint64_t coin) const {
    const int ascending = first_port(from, to, 0);
    const int descending = first_port(from, to, 1);
    if (ascending == descending) return coin;
    const std::int64_t a = room(view, ascending);
    const std::int64_t d = room(view, descending);
    return a == d ? coin : a > d ? 0u : 1u;
  }

  Grid grid_;
  LegMasks masks_;
  int vcs_;
  Chosen chosen_;
  int hops_max_ = 0;
};

int vcs_xy_yx(const Topology& t) {
  const Lattice* const lattice = t.shape->lattice();
  if (lattice == nullptr || !Grid::fits(lattice->radix)) return 0;
  return std::find(lattice->wrap.begin(), lattice->wrap.end(), true) == lattice->wrap.end() ? 2 : 0;
}
MadePolicy make_xy_yx(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<XyYx>(t, vcs, Chosen::by_coin));
}
MadePolicy make_xy_yx_adaptive(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<XyYx>(t, vcs, Chosen::by_credit));
}

}  // namespace

extern const PolicyEntry xy_yx_policy{
    .name = "xy-yx",
    .help = "dimension order up or down on a mesh, by coin at the source",
    .vcs_needed = &vcs_xy_yx,
    .make = &make_xy_yx,
};
extern const PolicyEntry xy_yx_adaptive_policy{
    .name = "xy-yx-adaptive",
    .help = "as xy-yx, but the order whose first output has more room",
    .vcs_needed = &vcs_xy_yx,
    .make = &make_xy_yx_adaptive,
};

}  // namespace weft::detail
