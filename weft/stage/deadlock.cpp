// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/stage/deadlock.hpp>

namespace weft {

namespace {

constexpr std::size_t lines_max = 12;
constexpr Duration in_vain = idle_most / 2;

std::string line_of(const World& world, RankId rank) {
  const WaitTeller* const teller = world.teller(rank);
  if (teller == nullptr) return fmt::format("\n  rank {} waits", rank.index);
  const Waiting w = teller->waiting();
  if (teller->idle() >= in_vain)
    return fmt::format("\n  rank {} asks again and again with {}", rank.index, w.call);
  std::string text = fmt::format("\n  rank {} in {} waits for {}", rank.index, w.call, w.what);
  for (const RankId on : w.on) {
    if (world.done(on)) text += fmt::format("; rank {} has ended", on.index);
  }
  return text;
}

// Follows, from each rank that waits for exactly one other, who waits for whom, until it comes
// back.
std::vector<RankId> find_circle(const World& world, std::uint32_t ranks) {
  std::vector<std::uint32_t> seen(ranks, 0);
  for (std::uint32_t start = 0; start < ranks; ++start) {
    std::vector<RankId> path;
    RankId at(start);
    while (!world.done(at) && seen[at.index] == 0) {
      seen[at.index] = start + 1;
      path.push_back(at);
      const WaitTeller* const teller = world.teller(at);
      const std::vector<RankId> on =
          teller == nullptr ? std::vector<RankId>{} : teller->waiting().on;
      const auto open =
          std::find_if(on.begin(), on.end(), [&](RankId r) { return !world.done(r); });
      if (open == on.end()) break;
      at = *open;
    }
    const auto back = std::find(path.begin(), path.end(), at);
    if (back != path.end() && path.size() > 1 && seen[at.index] == start + 1 && at != path.back())
      return {back, path.end()};
  }
  return {};
}

}  // namespace

bool nobody_moves(const World& world, std::uint32_t ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const RankId rank(r);
    if (world.done(rank) || world.blocked(rank)) continue;
    const WaitTeller* const teller = world.teller(rank);
    if (teller == nullptr || teller->idle() < in_vain) return false;
  }
  return true;
}

std::string describe_deadlock(World& world, std::uint32_t ranks) {
  Time last;
  for (std::uint32_t r = 0; r < ranks; ++r)
    last = std::max(last, world.done(RankId(r)) ? Time::zero() : world.fabric(RankId(r)).now());
  std::string text = fmt::format("deadlock at {}: {} of {} ranks wait for what never comes",
                                 to_text(last - Time::zero()), world.ranks_open(), ranks);
  if (const std::string network = world.network().find_deadlock(); !network.empty())
    return text + "\n  packets in the network block each other: " + network;
  const std::vector<RankId> circle = find_circle(world, ranks);
  std::size_t lines = 0;
  if (!circle.empty()) text += fmt::format("; {} of them in a circle:", circle.size());
  for (const RankId rank : circle) {
    if (lines++ < lines_max) text += line_of(world, rank);
  }
  for (std::uint32_t r = 0; r < ranks && lines < lines_max; ++r) {
    const bool told = std::find(circle.begin(), circle.end(), RankId(r)) != circle.end();
    if (world.done(RankId(r)) || told) continue;
    text += line_of(world, RankId(r));
    ++lines;
  }
  if (world.ranks_open() > lines)
    text += fmt::format("\n  and {} more", world.ranks_open() - lines);
  return text;
}

}  // namespace weft
