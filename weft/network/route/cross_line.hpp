// SPDX-License-Identifier: Apache-2.0
// What the policies that look along lines have in common: the ways of a packet, and how two of them
// are compared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/line_order.hpp>
#include <weft/network/route/straight_lines.hpp>

namespace weft::detail {

enum class Look { line, local, order };

// In the order of the words in cross_line.cpp.
struct CrossLineOptions {
  bool escape = false;  // Else nets and levels.
  bool fold = true;
  bool all_round = false;  // Lines go round a ring, not just half of it.
  bool starts_full = true;
  bool same_number = false;  // A line keeps its VC number over the wrap.
  bool tie_by_parity = false;
  Shorter shorter = Shorter::counts_zero;
  bool once = false;        // One decision a hop.
  bool cut = false;         // Nothing beyond the packet's own way counts.
  bool better_net = false;  // Where a packet may choose its net.
  Look look = Look::line;
};

class CrossLine : public Policy {
 public:
  CrossLine(const Topology& t, const CrossLineOptions& options)
      : options_(options), legs_(t), lattice_(*t.shape->lattice()) {}

  void next(RouterId here, const Flight& flight, const PortView& view, Choices& out) const final {
    if (here == flight.destination) return out.add_eject();
    choose(legs_.grid().word(here), legs_.grid().word(flight.destination), flight, view, out);
  }

 protected:
  // Chooses between two different routers, given by their coordinates.
  virtual void choose(std::uint64_t from, std::uint64_t to, const Flight& flight,
                      const PortView& view, Choices& out) const = 0;

  struct Way {
    LineNews news;
    Choice choice;
  };
  // Best first; of more than can be offered, the best.
  struct Ways {
    std::array<Way, Choices::capacity> items;
    std::size_t count = 0;
  };

  // Keeps equals in the order in which they come.
  void add(Ways& ways, const Way& way) const {
    if (ways.count == ways.items.size()) {
      if (compare(way.news, ways.items.back().news) >= 0) return;
      --ways.count;
    }
    std::size_t at = ways.count++;
    for (; at > 0 && compare(way.news, ways.items[at - 1].news) < 0; --at)
      ways.items[at] = ways.items[at - 1];
    ways.items[at] = way;
  }
  int compare(LineNews a, LineNews b) const {
    return options_.look == Look::order ? 0 : compare_lines(a, b, options_.shorter);
  }
  LineNews look(const PortView& view, int port, int line, int distance) const {
    LineNews news = view.line(port, line);
    if (options_.look == Look::local) news.length = std::min(news.length, 1);
    if (options_.cut) news.length = std::min(news.length, distance);
    return news;
  }
  int distance(std::uint64_t from, std::uint64_t to, int port) const {
    const int axis = LineReach::axis(port);
    const int ahead = legs_.grid().coordinate(to, axis) - legs_.grid().coordinate(from, axis);
    const int links = LineReach::up(port) ? ahead : -ahead;
    return links < 0 ? links + lattice_.radix[static_cast<std::size_t>(axis)] : links;
  }
  bool wraps_now(std::uint64_t from, int port) const {
    const auto axis = static_cast<std::size_t>(LineReach::axis(port));
    const int x = legs_.grid().coordinate(from, static_cast<int>(axis));
    return lattice_.wrap[axis] && x == (LineReach::up(port) ? lattice_.radix[axis] - 1 : 0);
  }
  // Ports on shortest ways whose cable works, dimension by dimension.
  template <typename Visit>
  void for_each_port(std::uint64_t from, std::uint64_t to, const PortView& view,
                     Visit&& visit) const {
    const bool first = up_first(from);
    for (int axis = 0; axis < legs_.grid().axes(); ++axis) {
      const unsigned directions = legs_.directions(axis, from, to);
      for (const bool up : {first, !first}) {
        const int port = CubeLegs::port(axis, up);
        if ((directions & (up ? 1u : 2u)) != 0 && view.up(port)) visit(port);
      }
    }
  }
  // In which order two opposite directions come that are both shortest.
  bool up_first(std::uint64_t from) const { return !options_.tie_by_parity || parity(from) == 0; }
  int parity(std::uint64_t from) const {
    int sum = 0;
    for (int axis = 0; axis < legs_.grid().axes(); ++axis)
      sum += legs_.grid().coordinate(from, axis);
    return sum & 1;
  }
  // The first that are wanted, best first.
  void offer(const Ways& ways, Choices& out) const {
    const auto most = static_cast<std::size_t>(options_.once ? 1 : Choices::capacity - 1);
    for (std::size_t i = 0; i < std::min(ways.count, most); ++i) out.add(ways.items[i].choice);
  }
  PolicyFacts facts_for(int choices) const {
    return {.choices_max = std::min(choices, Choices::capacity),
            .hops_max = legs_.hops_max(),
            .asks_source = false,
            .looks = true,
            .in_order = false,
            .again = !options_.once,
            .returns = options_.escape};
  }

  const CrossLineOptions& words() const { return options_; }
  const CubeLegs& legs() const { return legs_; }
  const Lattice& lattice() const { return lattice_; }

 private:
  CrossLineOptions options_;
  CubeLegs legs_;
  Lattice lattice_;
};

// cross_line_escape.cpp
MadePolicy make_cross_line_escape(const Topology& t, int vcs, const CrossLineOptions& options);

}  // namespace weft::detail
