// SPDX-License-Identifier: Apache-2.0
// `crossline` (Mori, Yokota, Ootsu, Baba): any shortest direction, by what is known of whole rows
// and columns ahead. line_order.hpp compares two of them; here are the ways, and the VCs that keep
// them free of deadlock. docs/concepts/cross-line.md explains it with a picture.
//
// Nets and levels (Linder and Harden, 1991). A packet is put into a net at its source and stays: by
// the sign of its way in every dimension but the first. Within a net all shortest ways are allowed.
// Its level rises with each link that wraps round, on that link. A cycle of waiting would have to
// stay in one net and one level; there no channel wraps round (a packet that requests one comes
// from the level below); in the dimensions that a net goes one way only nothing leads back, so the
// cycle lies in a row of the first dimension, in which no packet turns back. So there is none.
//
// Fold: no packet of a net that descends in a dimension uses a link that goes up in it. There a
// packet may take the VC of its own net or that of the twin which differs in this dimension: these
// channels belong to its net as before, and the proof stands.
//
// cross_line_escape.cpp has the other division of VCs.
#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/network/route/cross_line.hpp>

namespace weft::detail {
namespace {

CrossLineOptions options_of(const ChosenWords& words) {
  const auto is = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  CrossLineOptions o;
  o.escape = is("escape");
  o.fold = !is("nofold");
  o.all_round = is("ring");
  o.starts_full = !is("unknown");
  o.same_number = is("number");
  o.tie_by_parity = is("parity");
  o.shorter = is("shorter-loses") ? Shorter::loses : Shorter::counts_zero;
  o.once = is("once");
  o.cut = is("cut");
  o.better_net = is("better-net");
  o.look = is("local") ? Look::local : is("order") ? Look::order : Look::line;
  return o;
}

// The classes of VCs: nets times levels.
class Nets {
 public:
  Nets(const Topology& topology, int vcs) : vcs_(vcs) {
    const Lattice& lattice = *topology.shape->lattice();
    bool first = true;  // It is free in both directions.
    for (int axis = 0; axis < lattice.dimensions(); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      sign_[a] = -1;
      if (lattice.radix[a] < 2) continue;
      if (lattice.wrap[a]) ++levels_;
      if (!first) sign_[a] = signs_++;
      first = false;
    }
  }

  int count() const { return levels_ << signs_; }
  int levels() const { return levels_; }
  int signs() const { return signs_; }
  // The bit of the net that says which way it goes there; -1: both.
  int sign(int axis) const { return sign_[static_cast<unsigned>(axis)]; }
  bool goes(int net, int port) const {
    const int bit = sign(LineReach::axis(port));
    return bit < 0 || ((net >> bit) & 1) == (LineReach::up(port) ? 0 : 1);
  }
  VcMask vcs(int net, int level, int port, bool fold) const {
    VcMask mask = of_class(net * levels_ + level);
    const int bit = sign(LineReach::axis(port));
    if (fold && bit >= 0) mask |= of_class((net ^ (1 << bit)) * levels_ + level);
    return mask;
  }

 private:
  VcMask of_class(int c) const {
    const int first = c * vcs_ / count();
    return vc_range(first, (c + 1) * vcs_ / count() - first);
  }

  int vcs_, levels_ = 1, signs_ = 0;
  std::array<int, Grid::axes_max> sign_{};
};

// One line for each class of VCs, as a packet of that class would meet it.
class NetLines final : public Lines {
 public:
  NetLines(const Topology& topology, const Nets& nets, const CrossLineOptions& options)
      : reach_(topology, options.all_round), nets_(nets), options_(options) {}

  LineKind kind() const override { return LineKind::bits; }
  int count() const override { return nets_.count(); }
  int ports() const override { return reach_.ports(); }
  int width(int port, int line) const override {
    return nets_.goes(line / nets_.levels(), port) ? reach_.longest(port) : 0;
  }
  Line line(RouterId router, int port, int line) const override {
    const int net = line / nets_.levels(), level = line % nets_.levels();
    if (!nets_.goes(net, port)) return {};
    const int before = reach_.before_end(router, port);
    int length = reach_.length(router, port), raised = level;
    if (reach_.wraps(port) && !options_.same_number) {
      raised += before == 0 ? 1 : 0;
      // No packet of the top level wraps round.
      if (level + 1 == nets_.levels()) length = std::min(length, before);
    }
    if (length == 0) return {};
    return {.vcs = nets_.vcs(net, raised, port, options_.fold),
            .next = length > 1 ? net * nets_.levels() + raised : -1,
            .length = length};
  }
  int behind(int port) const override { return LineReach::behind(port); }
  bool starts_full() const override { return options_.starts_full; }

 private:
  LineReach reach_;
  Nets nets_;
  CrossLineOptions options_;
};

class CrossLineNets final : public CrossLine {
 public:
  CrossLineNets(const Topology& t, int vcs, const CrossLineOptions& options)
      : CrossLine(t, options), nets_(t, vcs), lines_(t, nets_, options) {}

  // One for each dimension, and one more where the first is exactly half-way round; all this for
  // each net that a packet may choose.
  PolicyFacts facts() const override {
    const int ways = legs().grid().axes() + 1;
    if (words().once) return facts_for(1);
    return facts_for(words().better_net ? ways << nets_.signs() : ways);
  }
  const Lines* lines() const override { return &lines_; }

 protected:
  void choose(std::uint64_t from, std::uint64_t to, const Flight& flight, const PortView& view,
              Choices& out) const override {
    Ways ways;
    if (flight.hops == 0) {
      const Entry entry = enter(from, to);
      add_ways(from, to, {entry.net, 0}, view, ways);
      for (int net = 0; net < (1 << nets_.signs()) && words().better_net; ++net) {
        if (net != entry.net && ((net ^ entry.net) & ~entry.open) == 0 && ways.count < nets_most)
          add_ways(from, to, {net, 0}, view, ways);
      }
    } else {
      const auto net = static_cast<int>(flight.state & 0xff);
      add_ways(from, to, {net, static_cast<int>((flight.state >> 8) & 0xff)}, view, ways);
    }
    offer(ways, out);
  }

 private:
  struct Rider {
    int net, level;
  };
  struct Entry {
    int net, open;  // Bits of the net that may as well be otherwise.
  };
  static constexpr std::size_t nets_most = 8;  // Ways after which no further net is looked at.

  // The net of a packet at its source. Where both signs will do, by parity.
  Entry enter(std::uint64_t from, std::uint64_t to) const {
    Entry entry{0, 0};
    for (int axis = 0; axis < legs().grid().axes(); ++axis) {
      const int bit = nets_.sign(axis);
      if (bit < 0) continue;
      const unsigned directions = legs().directions(axis, from, to);
      if (directions == 2 || (directions != 1 && parity(from) == 1)) entry.net |= 1 << bit;
      // Half-way round, the net is the way; it stays with parity.
      if (directions == 0) entry.open |= 1 << bit;
    }
    return entry;
  }
  void add_ways(std::uint64_t from, std::uint64_t to, Rider rider, const PortView& view,
                Ways& ways) const {
    const int line = rider.net * nets_.levels() + rider.level;
    for_each_port(from, to, view, [&](int port) {
      if (!nets_.goes(rider.net, port)) return;
      const int level = rider.level + (wraps_now(from, port) ? 1 : 0);
      add(ways, {look(view, port, line, distance(from, to, port)),
                 {.port = static_cast<std::uint16_t>(port),
                  .vcs = nets_.vcs(rider.net, level, port, words().fold),
                  .state = static_cast<std::uint64_t>(rider.net) |
                           (static_cast<std::uint64_t>(level) << 8)}});
    });
  }

  Nets nets_;
  NetLines lines_;
};

// The decisions that the paper leaves open, D3 to D15 of its specification.
constexpr std::array cross_line_words = {
    PolicyWords{"nets|escape", "VCs by sign of the way and wraps so far, or free above an escape"},
    PolicyWords{"fold|nofold", "in y use the VCs of the net that is not seen there, or not"},
    PolicyWords{"half|ring", "how far round a torus a line is known"},
    PolicyWords{"full|unknown", "before the first news: all is ready, or nothing is known"},
    PolicyWords{"packet|number",
                "beyond the wrap a line shows the VC that the packet will have, or "
                "the one of the same number"},
    PolicyWords{"up|parity", "between equals half-way round: up, or by the router's parity"},
    PolicyWords{"shorter-zero|shorter-loses",
                "a line that has ended has runs of 0, or loses at once"},
    PolicyWords{"again|once", "decide until there is a VC, or once a hop"},
    PolicyWords{"whole|cut", "count all of a line, or only what the packet has to go there"},
    PolicyWords{"parity-net|better-net", "the net where y needs no hop: by parity, or the freer x"},
    PolicyWords{"line|local|order", "look along lines, at own outputs only, or at nothing"}};

int vcs_cross_line_with(const Topology& t, const ChosenWords& words) {
  const int escape = CubeLegs::vcs_needed(t);
  if (escape == 0) return 0;  // Not a cube.
  const int needed = options_of(words).escape ? escape + 1 : Nets(t, 0).count();
  return needed <= max_vcs ? needed : 0;
}
MadePolicy make_cross_line_with(const Topology& t, int vcs, const ChosenWords& words) {
  const CrossLineOptions options = options_of(words);
  if (options.escape) return make_cross_line_escape(t, vcs, options);
  return MadePolicy(std::make_unique<CrossLineNets>(t, vcs, options));
}
int vcs_cross_line(const Topology& t) {
  return vcs_cross_line_with(t, {});
}
MadePolicy make_cross_line(const Topology& t, int vcs) {
  return make_cross_line_with(t, vcs, {});
}

}  // namespace

extern const PolicyEntry cross_line_policy{
    .name = "crossline",
    .help = "any shortest direction, by the free VCs of whole rows and columns",
    .vcs_needed = &vcs_cross_line,
    .make = &make_cross_line,
    .groups = cross_line_words,
    .vcs_needed_with = &vcs_cross_line_with,
    .make_with = &make_cross_line_with,
};

}  // namespace weft::detail
