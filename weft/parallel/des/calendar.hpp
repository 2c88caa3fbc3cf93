// SPDX-License-Identifier: Apache-2.0
// Which processes have something to do in which window: a bitmap per window for the near future, a
// heap for the far one. Entries are never cancelled: a process that is visited without need finds
// nothing to do and says when it is to be visited next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/check.hpp>

namespace weft {

class Calendar {
 public:
  static constexpr std::int64_t no_window = INT64_MAX;

  // For processes [first, first + count).
  Calendar(std::uint32_t first, std::uint32_t count)
      : first_(first),
        words_((count + 63) / 64),
        groups_((words_ + 63) / 64),
        bits_(std::size_t{near_windows} * words_),
        summary_(std::size_t{near_windows} * groups_) {}

  // REQUIRES: window >= the last one returned by advance(), or its own while it is being visited.
  void wake(std::uint32_t process, std::int64_t window) {
    if (window - base_ >= near_windows) {
      far_.emplace_back(window, process);
      std::push_heap(far_.begin(), far_.end(), std::greater<>());
      return;
    }
    WEFT_DCHECK(window >= base_);
    mark(process, window);
  }

  // The earliest window with work, or no_window.
  std::int64_t next() const {
    const std::int64_t near = next_near();
    return far_.empty() ? near : std::min(near, far_.front().first);
  }

  // Makes `window` (at most next()) the first one that may hold work.
  void advance(std::int64_t window) {
    WEFT_DCHECK(window >= base_);
    base_ = window;
    while (!far_.empty() && far_.front().first - base_ < near_windows) {
      const auto [at, process] = far_.front();
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      far_.pop_back();
      mark(process, at);
    }
  }

  // Removes and returns the processes of the window passed to advance(), in increasing order. A
  // process that is woken for the same window later is returned by the next call.
  const std::vector<std::uint32_t>& take_due() {
    due_.clear();
    const auto slot = static_cast<std::size_t>(base_ % near_windows);
    std::uint64_t* const bits = bits_.data() + slot * words_;
    std::uint64_t* const summary = summary_.data() + slot * groups_;
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    for (std::size_t g = 0; g < groups_; ++g) {
      std::uint64_t group = std::exchange(summary[g], 0);
      for (; group != 0; group &= group - 1) {
        const std::size_t w = g * 64 + static_cast<std::size_t>(std::countr_zero(group));
        std::uint64_t word = std::exchange(bits[w], 0);
        for (; word != 0; word &= word - 1) {
          due_.push_back(first_ + static_cast<std::uint32_t>(w * 64) +
                         static_cast<std::uint32_t>(std::countr_zero(word)));
        }
      }
    }
    return due_;
  }

 private:
  // Enough that a packet's next stop is nearly always near; 128 bitmaps of 64 Ki processes are 1
  // MiB.
  static constexpr std::int64_t near_windows = 128;

  void mark(std::uint32_t process, std::int64_t window) {
    const std::size_t slot = static_cast<std::size_t>(window) % near_windows;
    const std::size_t local = process - first_;
    bits_[slot * words_ + local / 64] |= std::uint64_t{1} << (local % 64);
    summary_[slot * groups_ + local / 4096] |= std::uint64_t{1} << (local / 64 % 64);
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  std::int64_t next_near() const {
    const auto start = static_cast<std::size_t>(base_ % near_windows);
    for (std::size_t step = 0; step < near_windows;) {
      const std::size_t slot = (start + step) % near_windows;
      const std::uint64_t word = occupied_[slot / 64] >> (slot % 64);
      if (word != 0) {
        const auto ahead = step + static_cast<std::size_t>(std::countr_zero(word));
        return ahead < near_windows ? base_ + static_cast<std::int64_t>(ahead) : no_window;
      }
      step += 64 - slot % 64;
    }
    return no_window;
  }

  std::uint32_t first_;
  std::size_t words_, groups_;
  std::int64_t base_ = 0;
  std::vector<std::uint64_t> bits_, summary_;
  std::uint64_t occupied_[near_windows / 64] = {};
  std::vector<std::pair<std::int64_t, std::uint32_t>> far_;
  std::vector<std::uint32_t> due_;
};

}  // namespace weft
