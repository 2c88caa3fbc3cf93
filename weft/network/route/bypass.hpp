// SPDX-License-Identifier: Apache-2.0
// Hops between routers that are joined each with each (the group of a dragonfly, the line of a
// HyperX) where cables may be down. Instead of a cable that is down a packet takes two, by a router
// all of whose cables in the set are up.
//
// No VC is needed for that: a cable that leaves such a router ends the way round, so nobody who
// holds it waits for another cable of the set.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/rng.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

class Bypass {
 public:
  // Routers have places 0 .. size - 1 in the set. Ports from `first_port` on lead to the others, by
  // place.
  struct Set {
    int first_port, size;
    std::uint16_t port(int own, int other) const {
      return static_cast<std::uint16_t>(first_port + (other < own ? other : other - 1));
    }
  };

  explicit Bypass(const Graph& graph) : graph_(graph), all_up_(graph.all_up()) {}

  bool all_up() const { return all_up_; }
  // The port by which a packet for `target` goes from place `own` of the set towards place `other`;
  // LegStep::nowhere if no cables lead there.
  std::uint16_t port(RouterId here, const Set& set, int own, int other, RouterId target) const {
    const std::uint16_t direct = set.port(own, other);
    if (all_up_ || graph_.ports(here)[direct].usable()) return direct;
    return port_round(here, set, {own, other}, target);
  }
  int hops(RouterId here, const Set& set, int own, int other) const {
    if (own == other) return 0;
    return all_up_ || graph_.ports(here)[set.port(own, other)].usable() ? 1 : 2;
  }
  // Can `here` reach all others of its set?
  bool reaches_all(RouterId here, const Set& set, int own) const {
    for (int other = 0; other < set.size; ++other)
      if (other != own && port(here, set, own, other, here) == LegStep::nowhere) return false;
    return true;
  }

 private:
  bool is_whole(RouterId r, const Set& set) const {
    const auto ports = graph_.ports(r).subspan(static_cast<std::size_t>(set.first_port),
                                               static_cast<std::size_t>(set.size - 1));
    return std::all_of(ports.begin(), ports.end(), [](const Port& p) { return p.usable(); });
  }
  struct Places {
    int own, other;
  };
  // Rare, so it may search. A hash spreads targets over the routers that would do.
  std::uint16_t port_round(RouterId here, const Set& set, Places places, RouterId target) const {
    const auto ports = graph_.ports(here);
    const auto fits = [&](int place) {
      return place != places.own && place != places.other &&
             is_whole(ports[set.port(places.own, place)].peer, set);
    };
    std::uint64_t count = 0;
    for (int place = 0; place < set.size; ++place) count += fits(place) ? 1 : 0;
    if (count == 0) return LegStep::nowhere;
    std::uint64_t skip = mix((std::uint64_t{here.index} << 32) | target.index) % count;
    int place = 0;
    while (!fits(place) || skip-- > 0) ++place;
    return set.port(places.own, place);
  }

  const Graph& graph_;
  bool all_up_;
};

}  // namespace weft::detail
