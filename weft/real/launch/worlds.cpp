// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/worlds.hpp"

#include <algorithm>
#include <set>

#include <weft/base/check.hpp>

namespace weft::launch {

World& Worlds::add(std::uint32_t ranks, std::uint32_t parent) {
  const std::uint32_t origin = of(parent).first;
  World& world = worlds_.emplace_back(this->ranks(), ranks);
  world.life = World::Life::starting;
  connected_[world.first] = {origin};
  return world;
}

World& Worlds::of(std::uint32_t rank) {
  WEFT_CHECK(rank < ranks());
  return *std::prev(std::upper_bound(worlds_.begin(), worlds_.end(), rank,
                                     [](std::uint32_t r, const World& w) { return r < w.first; }));
}

void Worlds::connect(std::uint32_t rank, const std::vector<std::uint32_t>& firsts) {
  std::vector<std::uint32_t> known;
  for (const std::uint32_t first : firsts)
    if (first < ranks()) known.push_back(of(first).first);
  if (known.empty()) {
    connected_.erase(rank);
  } else {
    connected_[rank] = std::move(known);
  }
}

bool Worlds::connected_are(const std::vector<World*>& worlds,
                           const std::function<bool(std::uint32_t rank)>& in_state) {
  return std::all_of(connected_.begin(), connected_.end(), [&](const auto& one) {
    const World* const own = &of(one.first);
    return std::find(worlds.begin(), worlds.end(), own) == worlds.end() || in_state(one.first);
  });
}

std::vector<World*> Worlds::together(World& world) {
  // Connections hold in both directions, whichever side speaks of them.
  std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
  for (const auto& [rank, firsts] : connected_) {
    const std::uint32_t own = of(rank).first;
    for (const std::uint32_t first : firsts) {
      neighbours[own].insert(first);
      neighbours[first].insert(own);
    }
  }
  std::set<std::uint32_t> seen = {world.first};
  std::vector<World*> found = {&world};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::uint32_t first : neighbours[found[i]->first])
      if (seen.insert(first).second) found.push_back(&of(first));
  }
  return found;
}

}  // namespace weft::launch
