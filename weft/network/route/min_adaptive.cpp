// SPDX-License-Identifier: Apache-2.0
// `min-adaptive` (Duato): any shortest direction in the adaptive VCs, and dimension order in the
// escape VCs, which are the lowest: one on a mesh, two (the halves of dimension order) where
// something wraps. A packet on the escape stays there: so the escape VCs depend only on each
// other, and that as dimension order, without a cycle; and they are offered in every state.
//
// `rca-1d` (Gratz, Grot, Keckler, HPCA 2008: regional congestion awareness along one dimension):
// the same channels, but a direction is judged by the free adaptive VCs of its whole line, where
// each router hands on the mean of its own number and of what it hears from further on.
//
// On other graphs, and where cables are down, `min-adaptive` is graph_adaptive.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/graph_adaptive.hpp>
#include <weft/network/route/straight_lines.hpp>

namespace weft::detail {
namespace {

enum class Kind { by_room, by_line };

class MinAdaptive final : public Policy {
 public:
  MinAdaptive(const Topology& t, int vcs, Kind kind)
      : legs_(t),
        escape_(legs_.masks(0, legs_.vcs_needed())),
        adaptive_(vc_range(legs_.vcs_needed(), vcs - legs_.vcs_needed())),
        kind_(kind) {
    if (kind == Kind::by_line)
      lines_.emplace(t, StraightLines::Shape{LineKind::average, adaptive_});
    int ways = 0;
    const Lattice& cube = *t.shape->lattice();
    for (std::size_t d = 0; d < cube.radix.size(); ++d)
      if (cube.radix[d] > 1) ways += cube.wrap[d] && cube.radix[d] % 2 == 0 ? 2 : 1;
    choices_max_ = std::min(ways, Choices::capacity - 1) + 1;
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const bool escaped = flight.hops > 0 && (flight.state & escaped_bit) != 0;
    const auto bits = static_cast<std::uint32_t>(flight.state);
    const LegStep step = legs_.step(here, flight.destination, bits, !escaped);
    const Choice escape{.port = step.port,
                        .escape = true,
                        .vcs = escape_[step.vc_class],
                        .state = escaped_bit | step.state};
    if (!escaped) add_adaptive(here, flight.destination, bits, view, out);
    if (view.up(step.port)) out.add(escape);
  }

  PolicyFacts facts() const override {
    return {.choices_max = choices_max_,
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = true,
            .in_order = false,
            .again = kind_ == Kind::by_line};
  }
  const Lines* lines() const override { return lines_ ? &*lines_ : nullptr; }

 private:
  static constexpr std::uint64_t escaped_bit = std::uint64_t{1} << 63;

  struct Way {
    std::int64_t room;
    std::uint16_t port;
  };

  void add_adaptive(RouterId here, RouterId target, std::uint32_t bits, const PortView& view,
                    Choices& out) const {
    std::array<Way, 64> ways;  // At most two for each of 32 dimensions.
    std::size_t count = 0;
    const std::uint64_t from = legs_.grid().word(here);
    const std::uint64_t to = legs_.grid().word(target);
    for (std::uint64_t left = from ^ to; left != 0;) {
      const int axis = legs_.grid().first_axis(left);
      left = legs_.grid().without(left, axis);
      const unsigned directions = legs_.directions(axis, from, to);
      // Exactly half-way both ways are shortest: the coin says which comes first.
      const bool up_first = directions == 3 ? legs_.coin(bits, axis) : directions == 1;
      for (const bool up : {up_first, !up_first}) {
        const std::uint16_t port = CubeLegs::port(axis, up);
        if ((directions & (up ? 1u : 2u)) != 0 && view.up(port))
          ways[count++] = {.room = 0, .port = port};
      }
    }
    if (count > 1) sort_by_room(view, std::span(ways).first(count));
    count = std::min<std::size_t>(count, Choices::capacity - 1);
    for (std::size_t i = 0; i < count; ++i)
      out.add({.port = ways[i].port, .vcs = adaptive_, .state = bits});
  }

  void sort_by_room(const PortView& view, std::span<Way> ways) const {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Way way{.room = room(view, ways[i].port), .port = ways[i].port};
      // Insertion keeps equals in the order of dimensions, and allocates nothing.
      std::size_t at = i;
      for (; at > 0 && ways[at - 1].room < way.room; --at) ways[at] = ways[at - 1];
      ways[at] = way;
    }
  }

  std::int64_t room(const PortView& view, int port) const {
    if (lines_) return static_cast<std::int64_t>(view.line(port, 0).word);
    std::int64_t sum = 0;
    for (VcMask left = adaptive_; left != 0; left &= left - 1)
      sum += view.free(port, std::countr_zero(left)).count;
    return sum;
  }

  CubeLegs legs_;
  LegMasks escape_;
  VcMask adaptive_;
  Kind kind_;
  std::optional<StraightLines> lines_;
  int choices_max_ = 0;
};

}  // namespace

int vcs_min_adaptive(const Topology& t) {
  const int escape = CubeLegs::vcs_needed(t);
  return escape == 0 ? 0 : escape + 1;
}
// On cubes whose cables are all up, and on any other graph.
static bool on_cube(const Topology& t) {
  return t.graph.all_up() && CubeLegs::vcs_needed(t) > 0;
}
static int vcs_min_adaptive_any(const Topology& t) {
  return on_cube(t) ? vcs_min_adaptive(t) : vcs_graph_adaptive(t);
}
static MadePolicy make_min_adaptive(const Topology& t, int vcs) {
  if (!on_cube(t)) return make_graph_adaptive(t, vcs);
  return MadePolicy(std::make_unique<MinAdaptive>(t, vcs, Kind::by_room));
}
static MadePolicy make_rca_1d(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<MinAdaptive>(t, vcs, Kind::by_line));
}

extern const PolicyEntry min_adaptive_policy{
    .name = "min-adaptive",
    .help = "any shortest direction, by room; dimension order or one shortest path as escape",
    .vcs_needed = &vcs_min_adaptive_any,
    .make = &make_min_adaptive,
    .any_graph = true,
    .reaches_all = &on_cube,
};
extern const PolicyEntry rca_1d_policy{
    .name = "rca-1d",
    .help = "as min-adaptive, by free VCs along the whole row or column (RCA-1D)",
    .vcs_needed = &vcs_min_adaptive,
    .make = &make_rca_1d,
};

}  // namespace weft::detail
