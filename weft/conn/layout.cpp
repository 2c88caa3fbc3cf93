// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include <weft/conn/layout.hpp>

namespace weft::conn {

Layout::Layout(const std::vector<std::uint32_t>& group_of_rank) : place_(group_of_rank.size()) {
  // Groups are numbered by their lowest ranks.
  std::map<std::uint32_t, std::uint32_t> known;
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    const auto [entry, is_new] =
        known.emplace(group_of_rank[r], static_cast<std::uint32_t>(lists.size()));
    if (is_new) lists.emplace_back();
    std::vector<std::uint32_t>& list = lists[entry->second];
    place_[r] = {entry->second, static_cast<std::uint32_t>(list.size())};
    list.push_back(r);
  }
  start_.push_back(0);
  for (const auto& list : lists) {
    order_.insert(order_.end(), list.begin(), list.end());
    start_.push_back(static_cast<std::uint32_t>(order_.size()));
  }
}

bool Layout::neighbours(RankId a, RankId b) const {
  if (a == b) return false;
  const Place &at_a = place_[a.index], &at_b = place_[b.index];
  if (at_a.group == at_b.group) return true;
  return at_a.number % size(at_b.group) == at_b.number ||
         at_b.number % size(at_a.group) == at_a.number;
}

std::vector<RankId> Layout::neighbours_in(RankId rank, std::uint32_t group) const {
  const Place& at = place_[rank.index];
  const std::span<const std::uint32_t> list = members(group);
  std::vector<RankId> found;
  if (group == at.group) {
    for (const std::uint32_t r : list) {
      if (r != rank.index) found.emplace_back(r);
    }
    return found;
  }
  const std::uint32_t own = size(at.group), picked = at.number % size(group);
  if (own >= size(group)) return {RankId(list[picked])};
  for (std::uint32_t i = at.number; i < list.size(); i += own) found.emplace_back(list[i]);
  return found;
}

std::vector<RankId> Layout::neighbours_of(RankId rank) const {
  std::vector<RankId> all;
  for (std::uint32_t g = 0; g < groups(); ++g) {
    const std::vector<RankId> some = neighbours_in(rank, g);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The first of a group has as many as any of it.
std::uint32_t Layout::neighbours_most() const {
  std::uint32_t most = 0;
  for (std::uint32_t g = 0; g < groups(); ++g) {
    const std::uint32_t own = size(g);
    std::uint32_t count = own - 1;
    for (std::uint32_t other = 0; other < groups(); ++other) {
      if (other != g) count += (size(other) + own - 1) / own;
    }
    most = std::max(most, count);
  }
  return most;
}

Result<Layout> Layout::fit(const std::vector<std::uint32_t>& group_of_rank, std::uint32_t most) {
  Layout layout(group_of_rank);
  std::uint32_t least = layout.neighbours_most();
  if (least <= most) return layout;
  std::uint32_t largest = 1;
  for (std::uint32_t g = 0; g < layout.groups(); ++g) largest = std::max(largest, layout.size(g));
  // In parts of at most so many, as even as can be.
  std::uint32_t limit = largest + 1;
  for (std::uint32_t pieces = 1; pieces <= largest; ++pieces) {
    if ((largest + pieces - 1) / pieces == limit) continue;
    limit = (largest + pieces - 1) / pieces;
    std::vector<std::uint32_t> cut(group_of_rank.size());
    std::uint32_t next = 0;
    for (std::uint32_t g = 0; g < layout.groups(); ++g) {
      const std::span<const std::uint32_t> list = layout.members(g);
      const auto count = static_cast<std::uint32_t>(list.size());
      const std::uint32_t parts = (count + limit - 1) / limit;
      for (std::uint32_t i = 0; i < count; ++i) cut[list[i]] = next + i * parts / count;
      next += parts;
    }
    Layout smaller(cut);
    const std::uint32_t neighbours = smaller.neighbours_most();
    least = std::min(least, neighbours);
    if (neighbours <= most) return smaller;
  }
  return Error::call("at most " + std::to_string(most) +
                     " connections are too few to reach everybody over one other; it takes " +
                     std::to_string(least));
}

}  // namespace weft::conn
