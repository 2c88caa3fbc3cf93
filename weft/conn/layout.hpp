// SPDX-License-Identifier: Apache-2.0
// Which ranks are neighbours, and so always connected: all of a group (the ranks of one switch),
// and of any other group one that the rank has picked, or who has picked it. Rank number i of a
// group picks number i modulo its size of another: in groups of one size picks are mutual.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/xport/fabric.hpp>

namespace weft::conn {

class Layout {
 public:
  // The group of each rank, by any numbers.
  explicit Layout(const std::vector<std::uint32_t>& group_of_rank);

  // Large groups cut until no rank has more neighbours; an error says how many it takes.
  static Result<Layout> fit(const std::vector<std::uint32_t>& group_of_rank, std::uint32_t most);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(place_.size()); }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(start_.size()) - 1; }
  std::uint32_t group(RankId rank) const { return place_[rank.index].group; }
  std::span<const std::uint32_t> members(std::uint32_t group) const {
    return std::span(order_).subspan(start_[group], start_[group + 1] - start_[group]);
  }
  bool neighbours(RankId a, RankId b) const;
  // Those of the rank in a group, ascending; of all groups.
  std::vector<RankId> neighbours_in(RankId rank, std::uint32_t group) const;
  std::vector<RankId> neighbours_of(RankId rank) const;
  std::uint32_t neighbours_most() const;

 private:
  struct Place {
    std::uint32_t group = 0, number = 0;  // Of the group, in the group.
  };
  std::uint32_t size(std::uint32_t group) const { return start_[group + 1] - start_[group]; }

  std::vector<Place> place_;          // By rank.
  std::vector<std::uint32_t> start_;  // By group, in order_.
  std::vector<std::uint32_t> order_;  // Ranks by group.
};

}  // namespace weft::conn
