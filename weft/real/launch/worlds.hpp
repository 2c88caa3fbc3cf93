// SPDX-License-Identifier: Apache-2.0
// Worlds: ranks that started together. The job begins with one; each start of further processes
// adds one. Worlds that are connected share their fate, others do not.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <weft/real/launch/exchanges.hpp>

namespace weft::launch {

struct World {
  World(std::uint32_t first_rank, std::uint32_t count)
      : first(first_rank), ranks(count), exchanges(first_rank, count) {}

  enum class Life : std::uint8_t {
    starting,  // Its ranks have not met the one that asked for them.
    running,
    ending,  // They were asked to end: how they do no longer counts.
  };
  std::uint32_t first, ranks;
  Life life = Life::running;
  bool told_leaving = false;  // Its ranks know that one of them has left after another was lost.
  Exchanges exchanges;

  bool has(std::uint32_t rank) const { return rank - first < ranks; }
};

class Worlds {
 public:
  explicit Worlds(std::uint32_t ranks) { worlds_.emplace_back(0, ranks); }

  // Of all worlds.
  std::uint32_t ranks() const { return worlds_.back().first + worlds_.back().ranks; }
  // A world that is starting, connected to that of the rank which asked for it.
  World& add(std::uint32_t ranks, std::uint32_t parent);
  // REQUIRES: rank < ranks().
  World& of(std::uint32_t rank);
  std::deque<World>& all() { return worlds_; }

  // What the rank says of itself: the worlds, by their first ranks, that it is connected to.
  void connect(std::uint32_t rank, const std::vector<std::uint32_t>& firsts);
  // The rank has ended.
  void forget(std::uint32_t rank) { connected_.erase(rank); }
  // Whether every rank which says that it is connected to these worlds is in this state.
  bool connected_are(const std::vector<World*>& worlds,
                     const std::function<bool(std::uint32_t rank)>& in_state);
  // All that are connected to this one, over others too; itself included.
  std::vector<World*> together(World& world);

 private:
  std::deque<World> worlds_;  // By their first ranks. References stay valid.
  std::map<std::uint32_t, std::vector<std::uint32_t>> connected_;  // By rank: first ranks.
};

}  // namespace weft::launch
