// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <weft/message/conn/layout.hpp>

namespace weft::conn {

bool Layout::neighbours(RankId a, RankId b) const {
  if (a == b) return false;
  const std::uint32_t at_a = group(a), at_b = group(b);
  return at_a == at_b || groups_.pick(a.index, at_b) == b.index ||
         groups_.pick(b.index, at_a) == a.index;
}

std::vector<RankId> Layout::neighbours_in(RankId rank, std::uint32_t group) const {
  const std::uint32_t at = groups_.group(rank.index);
  const std::span<const std::uint32_t> list = groups_.members(group);
  std::vector<RankId> found;
  if (group == at) {
    for (const std::uint32_t r : list) {
      if (r != rank.index) found.emplace_back(r);
    }
    return found;
  }
  if (groups_.size(at) >= list.size()) return {RankId(groups_.pick(rank.index, group))};
  for (std::size_t i = groups_.number(rank.index); i < list.size(); i += groups_.size(at))
    found.emplace_back(list[i]);
  return found;
}

std::vector<RankId> Layout::neighbours_of(RankId rank) const {
  std::vector<RankId> all;
  for (std::uint32_t g = 0; g < groups_.count(); ++g) {
    const std::vector<RankId> some = neighbours_in(rank, g);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool Layout::relays(RankId rank) const {
  const std::vector<RankId> near = neighbours_of(rank);
  for (std::size_t i = 0; i < near.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!neighbours(near[i], near[k])) return true;
    }
  }
  return false;
}

// The first of a group has as many as any of it.
std::uint32_t Layout::neighbours_most() const {
  std::uint32_t most = 0;
  for (std::uint32_t g = 0; g < groups_.count(); ++g) {
    const std::uint32_t own = groups_.size(g);
    std::uint32_t count = own - 1;
    for (std::uint32_t other = 0; other < groups_.count(); ++other) {
      if (other != g) count += (groups_.size(other) + own - 1) / own;
    }
    most = std::max(most, count);
  }
  return most;
}

// And its last as few.
std::uint32_t Layout::neighbours_least() const {
  std::uint32_t least = ranks();
  for (std::uint32_t g = 0; g < groups_.count(); ++g) {
    const std::uint32_t own = groups_.size(g);
    std::uint32_t count = own - 1;
    for (std::uint32_t other = 0; other < groups_.count(); ++other)
      if (other != g) count += std::max(1u, groups_.size(other) / own);
    least = std::min(least, count);
  }
  return least;
}

Result<Layout> Layout::fit(const std::vector<std::uint32_t>& group_of_rank, std::uint32_t most) {
  Layout layout(group_of_rank);
  std::uint32_t least = layout.neighbours_most();
  if (least <= most) return layout;
  std::uint32_t largest = 1;
  for (std::uint32_t g = 0; g < layout.groups().count(); ++g)
    largest = std::max(largest, layout.groups().size(g));
  // Split groups into parts of at most `limit` ranks, as evenly as possible.
  std::uint32_t limit = largest + 1;
  for (std::uint32_t pieces = 1; pieces <= largest; ++pieces) {
    if ((largest + pieces - 1) / pieces == limit) continue;
    limit = (largest + pieces - 1) / pieces;
    std::vector<std::uint32_t> cut(group_of_rank.size());
    std::uint32_t next = 0;
    for (std::uint32_t g = 0; g < layout.groups().count(); ++g) {
      const std::span<const std::uint32_t> list = layout.groups().members(g);
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
