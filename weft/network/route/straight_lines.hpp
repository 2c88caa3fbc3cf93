// SPDX-License-Identifier: Apache-2.0
// Lines of a cube, one for each port: to the edge of a mesh, or as far round a ring as shortest
// ways go.
#pragma once

#include <algorithm>

#include <weft/network/route/grid.hpp>
#include <weft/network/route/lines.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::detail {

// How far a line of a cube reaches.
class LineReach {
 public:
  // all_round: up to the last but one link of a ring, not just to its far side.
  LineReach(const Topology& topology, bool all_round)
      : lattice_(*topology.shape->lattice()),
        grid_(lattice_.radix, topology.graph.router_count()),
        all_round_(all_round) {}

  int ports() const { return 2 * lattice_.dimensions(); }
  static int axis(int port) { return port / 2; }
  static bool up(int port) { return port % 2 == 0; }
  static int behind(int port) { return port ^ 1; }
  bool wraps(int port) const { return lattice_.wrap[static_cast<std::size_t>(axis(port))]; }

  // Length of the longest line of any router.
  int longest(int port) const {
    const int radix = lattice_.radix[static_cast<std::size_t>(axis(port))];
    const int links = wraps(port) && !all_round_ ? radix / 2 : radix - 1;
    return std::min(links, Line::length_max);
  }
  // Links before the edge, or before the one that wraps round.
  int before_end(RouterId router, int port) const {
    const int x = grid_.coordinate(grid_.word(router), axis(port));
    return up(port) ? lattice_.radix[static_cast<std::size_t>(axis(port))] - 1 - x : x;
  }
  int length(RouterId router, int port) const {
    const int longest_one = longest(port);
    return wraps(port) ? longest_one : std::min(longest_one, before_end(router, port));
  }

 private:
  Lattice lattice_;
  Grid grid_;
  bool all_round_;
};

class StraightLines final : public Lines {
 public:
  struct Shape {
    LineKind kind = LineKind::bits;
    VcMask vcs = 0;
    bool all_round = false, starts_full = true;
    int least = 1;
  };
  StraightLines(const Topology& topology, const Shape& shape)
      : reach_(topology, shape.all_round), shape_(shape) {}

  LineKind kind() const override { return shape_.kind; }
  int count() const override { return 1; }
  int ports() const override { return reach_.ports(); }
  int width(int port, int /*line*/) const override {
    return shape_.kind == LineKind::bits ? reach_.longest(port) : average_bits;
  }
  Line line(RouterId router, int port, int /*line*/) const override {
    const int length = reach_.length(router, port);
    // A mean that goes round a ring comes back to itself, and never settles.
    const bool ends = shape_.kind == LineKind::average && reach_.wraps(port)
                          ? reach_.before_end(router, port) == 0
                          : length <= 1;
    return {.vcs = shape_.vcs, .next = ends ? -1 : 0, .length = length, .least = shape_.least};
  }
  int behind(int port) const override { return LineReach::behind(port); }
  bool starts_full() const override { return shape_.starts_full; }

 private:
  static constexpr int average_bits = 13;  // At most 32 VCs, in 1/256.

  LineReach reach_;
  Shape shape_;
};

}  // namespace weft::detail
