// SPDX-License-Identifier: Apache-2.0
// The peers that a rank always stays connected to, and the routes that lead over them to all
// others.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <weft/message/conn/state.hpp>

namespace weft::conn {

struct Route {
  RankId next;
  std::uint8_t left = 0;  // Relays before the target.
  bool found = false;
};

class Neighbours {
 public:
  // As the mode says: those of the layout, all ranks, or none.
  explicit Neighbours(State& state);

  std::span<const RankId> all() const { return neighbours_; }
  void add(RankId peer);
  void remove(RankId peer);
  // Tells a neighbour what it may have missed.
  void inform(RankId peer);

  // The way with the fewest relays, if it takes no more than `most`.
  Route find_route(RankId target, std::uint8_t most = relays_most);
  void forget_routes() { routes_.clear(); }
  // These two will not be connected: routes avoid the pair, and others hear of it. false: known.
  bool separate(RankId a, RankId b);

 private:
  bool usable(RankId peer) const;
  bool joined(RankId a, RankId b) const;
  Route search(RankId target) const;
  Route search_far(RankId target) const;

  State& state_;
  std::vector<RankId> neighbours_;
  std::map<std::uint32_t, Route> routes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> separated_;
};

}  // namespace weft::conn
