// SPDX-License-Identifier: Apache-2.0
// The members of a group, in order. Kept as runs (first, stride, count), so that a group of all
// ranks takes a few words and not a list per rank. Copies share a longer list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class Members {
 public:
  Members() = default;
  static Members all(std::uint32_t ranks);
  static Members range(std::uint32_t first, std::uint32_t ranks);
  static Members of(std::span<const RankId> ranks);

  int size() const { return size_; }
  RankId operator[](int index) const {
    if (runs_ != nullptr) return find_run(index);
    return RankId(first_ + static_cast<std::uint32_t>(index * stride_));
  }
  std::optional<int> find(RankId rank) const;  // Its index in the group.
  // Whether all of them are among these ranks.
  bool within(std::uint32_t first, std::uint32_t ranks) const;
  friend bool operator==(const Members& a, const Members& b) {
    if (a.size_ != b.size_ || a.first_ != b.first_ || a.stride_ != b.stride_) return false;
    if (a.runs_ == nullptr || b.runs_ == nullptr) return a.runs_ == b.runs_;
    return *a.runs_ == *b.runs_;
  }

 private:
  struct Run {
    std::uint32_t first = 0;
    std::int32_t stride = 1;
    std::int32_t count = 0;
    std::int32_t start = 0;  // Index of the first.
    friend bool operator==(const Run&, const Run&) = default;

    std::optional<int> find(RankId rank) const;
    std::uint32_t last() const {
      return static_cast<std::uint32_t>(std::int64_t{first} + std::int64_t{stride} * (count - 1));
    }
  };
  RankId find_run(int index) const;
  static void add(std::vector<Run>& runs, RankId rank);
  // Of the first run.
  std::uint32_t first_ = 0;
  std::int32_t stride_ = 1;
  int size_ = 0;
  std::shared_ptr<const std::vector<Run>> runs_;  // Null: there is one, or none.
};

}  // namespace weft::mp
