// SPDX-License-Identifier: Apache-2.0
// A partition of the numbers 0 .. n-1 into groups, such as the ranks of each switch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class Groups {
 public:
  // Takes a group label for each number. Groups are renumbered by their lowest member.
  explicit Groups(std::span<const std::uint32_t> group_of_each);

  std::uint32_t total() const { return static_cast<std::uint32_t>(place_.size()); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(start_.size()) - 1; }
  std::uint32_t size(std::uint32_t group) const { return start_[group + 1] - start_[group]; }
  std::uint32_t group(std::uint32_t one) const { return place_[one].group; }
  std::uint32_t number(std::uint32_t one) const { return place_[one].number; }  // In its group.
  // Members in ascending order.
  std::span<const std::uint32_t> members(std::uint32_t group) const {
    return std::span(order_).subspan(start_[group], size(group));
  }
  // The member of another group that `one` pairs with: member i picks member i modulo the group's
  // size. Between groups of equal size the choice is mutual.
  std::uint32_t pick(std::uint32_t one, std::uint32_t group) const {
    return order_[start_[group] + place_[one].number % size(group)];
  }

 private:
  struct Place {
    std::uint32_t group = 0, number = 0;
  };
  std::vector<Place> place_;
  std::vector<std::uint32_t> start_;  // Offset of each group in order_.
  std::vector<std::uint32_t> order_;  // Members, group by group.
};

}  // namespace weft
