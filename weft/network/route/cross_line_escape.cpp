// SPDX-License-Identifier: Apache-2.0
// `crossline:escape` and `foresight`: looking along lines above an escape.
//
// Duato: the lowest VCs are dimension order, one class on a mesh, two on a torus (the
// upper while the wrap is still ahead); the others are free. A packet may come back from the
// escape: it is in one buffer only, and wherever that is it waits for the escape of that place; and
// escapes wait for each other as dimension order does.
//
// `foresight` has the same channels and the same news, and uses it to stay on course. Cross-Line
// turns whenever the other line is free for longer, and every turn meets the packets of another
// line: at moderate loads that costs more than it saves. Here a packet goes on in dimension order
// while the next routers are free, or all that it has to go there; only then it takes the way that
// is free for longest, where a line free up to the packet's own turn counts as free for ever. And a
// router counts as free when more than half of its adaptive VCs are: by the time that the last one
// is taken it is too late to go elsewhere.
#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/network/route/cross_line.hpp>

namespace weft::detail {
namespace {

class CrossLineEscape : public CrossLine {
 public:
  CrossLineEscape(const Topology& t, int vcs, const CrossLineOptions& options, int least = 1)
      : CrossLine(t, options),
        adaptive_(vc_range(legs().vcs_needed(), vcs - legs().vcs_needed())),
        lines_(t, {.vcs = adaptive_,
                   .all_round = options.all_round,
                   .starts_full = options.starts_full,
                   .least = least}) {}

  PolicyFacts facts() const override {
    int ways = 0;
    for (int axis = 0; axis < legs().grid().axes(); ++axis)
      ways += lattice().wrap[static_cast<std::size_t>(axis)] ? 2 : 1;
    return facts_for((words().once ? 1 : ways) + 1);
  }
  const Lines* lines() const override { return &lines_; }

 protected:
  void choose(std::uint64_t from, std::uint64_t to, const Flight& /*flight*/, const PortView& view,
              Choices& out) const override {
    Ways ways;
    add_ways(from, to, view, ways);
    offer(ways, out);
    const Choice escape = escape_way(from, to);
    if (view.up(escape.port)) out.add(escape);
  }
  // All shortest directions, best first.
  virtual void add_ways(std::uint64_t from, std::uint64_t to, const PortView& view,
                        Ways& ways) const {
    for_each_port(from, to, view, [&](int port) {
      add(ways, {look(view, port, 0, distance(from, to, port)), way_through(port)});
    });
  }
  Choice way_through(int port) const {
    return {.port = static_cast<std::uint16_t>(port), .vcs = adaptive_, .state = 0};
  }

 private:
  // Dimension order; a function of the place alone, so that it does not matter how a packet came.
  Choice escape_way(std::uint64_t from, std::uint64_t to) const {
    const int axis = legs().grid().first_axis(from ^ to);
    const bool up = (legs().directions(axis, from, to) & 1u) != 0;
    const int x = legs().grid().coordinate(from, axis), end = legs().grid().coordinate(to, axis);
    const bool ahead = lattice().wrap[static_cast<std::size_t>(axis)] && (up ? end < x : end > x);
    return {.port = CubeLegs::port(axis, up),
            .escape = true,
            .vcs = VcMask{1} << (ahead ? 1 : 0),
            .state = 0};
  }

  VcMask adaptive_;
  StraightLines lines_;
};

class Foresight final : public CrossLineEscape {
 public:
  Foresight(const Topology& t, int vcs)
      : CrossLineEscape(t, vcs, {.escape = true}, (vcs - CubeLegs::vcs_needed(t)) / 2 + 1) {}

 protected:
  void add_ways(std::uint64_t from, std::uint64_t to, const PortView& view,
                Ways& ways) const override {
    std::size_t best = 0;
    std::array<int, Choices::capacity> free{};
    for_each_port(from, to, view, [&](int port) {
      if (ways.count + 1 == ways.items.size()) return;
      const std::size_t i = ways.count++;
      ways.items[i] = {view.line(port, 0), way_through(port)};
      free[i] = run_of(ways.items[i].news, 0, true);
      if (free[i] >= distance(from, to, port)) free[i] = for_ever;
      if (free[0] < near && free[i] > free[best]) best = i;
    });
    const auto first = ways.items.begin();
    std::rotate(first, first + static_cast<std::ptrdiff_t>(best),
                first + static_cast<std::ptrdiff_t>(best) + (ways.count > 0 ? 1 : 0));
  }

 private:
  static constexpr int near = 4;  // Routers; 2 to 8 do about as well.
  static constexpr int for_ever = 1 << 20;
};

}  // namespace

static int vcs_foresight(const Topology& t) {
  const int escape = CubeLegs::vcs_needed(t);
  return escape == 0 ? 0 : escape + 1;
}
static MadePolicy make_foresight(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<Foresight>(t, vcs));
}
MadePolicy make_cross_line_escape(const Topology& t, int vcs, const CrossLineOptions& options) {
  return MadePolicy(std::make_unique<CrossLineEscape>(t, vcs, options));
}

extern const PolicyEntry foresight_policy{
    .name = "foresight",
    .help = "dimension order until the line ahead is jammed, then the freest way",
    .vcs_needed = &vcs_foresight,
    .make = &make_foresight,
};

}  // namespace weft::detail
