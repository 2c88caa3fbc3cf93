// SPDX-License-Identifier: Apache-2.0
// The members of a group, in order. Kept as runs (first, stride, count), so that a group of all
// ranks takes a few words and not a list per rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class Members {
 public:
  Members() = default;
  static Members all(std::uint32_t ranks);
  static Members of(std::span<const RankId> ranks);

  int size() const { return size_; }
  RankId operator[](int index) const {
    if (runs_.size() != 1) return find_run(index);
    const Run& run = runs_.front();
    return RankId(run.first + static_cast<std::uint32_t>(index * run.stride));
  }
  std::optional<int> find(RankId rank) const;  // Its index in the group.
  friend bool operator==(const Members&, const Members&) = default;

 private:
  struct Run {
    std::uint32_t first = 0;
    std::int32_t stride = 1;
    std::int32_t count = 0;
    std::int32_t start = 0;  // Index of the first.
    friend bool operator==(const Run&, const Run&) = default;
  };
  RankId find_run(int index) const;
  void add(RankId rank);
  int size_ = 0;
  std::vector<Run> runs_;
};

}  // namespace weft::mp
