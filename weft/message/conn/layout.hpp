// SPDX-License-Identifier: Apache-2.0
// Which ranks are neighbours, and so always connected: all of a group (the ranks of one switch),
// and, in each other group, the rank it picked (Groups::pick) and the ranks that picked it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <weft/base/groups.hpp>
#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::conn {

class Layout {
 public:
  // The group of each rank, by any numbers.
  explicit Layout(const std::vector<std::uint32_t>& group_of_rank) : groups_(group_of_rank) {}

  // Large groups cut until no rank has more neighbours; an error says how many it takes.
  static Result<Layout> fit(const std::vector<std::uint32_t>& group_of_rank, std::uint32_t most);

  const Groups& groups() const { return groups_; }
  std::uint32_t ranks() const { return groups_.total(); }
  std::uint32_t group(RankId rank) const { return groups_.group(rank.index); }
  bool neighbours(RankId a, RankId b) const;
  // Those of the rank in a group, ascending; of all groups.
  std::vector<RankId> neighbours_in(RankId rank, std::uint32_t group) const;
  std::vector<RankId> neighbours_of(RankId rank) const;
  std::uint32_t neighbours_most() const;
  std::uint32_t neighbours_least() const;
  // Whether frames of others may go over this rank: two of its neighbours do not know each other.
  bool relays(RankId rank) const;
  // True if this many shortcuts suffice to connect every rank to all others.
  bool reaches_all(std::uint32_t shortcuts) const {
    return std::uint64_t{neighbours_least()} + shortcuts + 1 >= ranks();
  }

 private:
  Groups groups_;
};

}  // namespace weft::conn
