// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/check.hpp>
#include <weft/message/mp/members.hpp>

namespace weft::mp {

Members Members::all(std::uint32_t ranks) {
  Members members;
  members.size_ = static_cast<int>(ranks);
  if (ranks > 0) members.runs_.push_back({0, 1, members.size_, 0});
  return members;
}

Members Members::of(std::span<const RankId> ranks) {
  Members members;
  for (const RankId rank : ranks) members.add(rank);
  members.runs_.shrink_to_fit();
  return members;
}

// A run of one takes any second member; later ones must keep its stride.
void Members::add(RankId rank) {
  const std::int64_t value = rank.index;
  if (!runs_.empty()) {
    Run& last = runs_.back();
    const std::int64_t step = value - last.first;
    const bool second = last.count == 1 && step >= INT32_MIN && step <= INT32_MAX;
    if (second) last.stride = static_cast<std::int32_t>(step);
    if (second || step == std::int64_t{last.stride} * last.count) {
      ++last.count;
      ++size_;
      return;
    }
  }
  runs_.push_back({rank.index, 1, 1, size_});
  ++size_;
}

RankId Members::find_run(int index) const {
  WEFT_DCHECK(index >= 0 && index < size_);
  const Run* run = runs_.data();
  if (runs_.size() > 1) {
    run = &*std::prev(std::upper_bound(runs_.begin(), runs_.end(), index,
                                       [](int i, const Run& r) { return i < r.start; }));
  }
  const std::int64_t value =
      std::int64_t{run->first} + std::int64_t{run->stride} * (index - run->start);
  return RankId(static_cast<std::uint32_t>(value));
}

std::optional<int> Members::find(RankId rank) const {
  for (const Run& run : runs_) {
    const std::int64_t step = std::int64_t{rank.index} - run.first;
    if (run.count == 1 || run.stride == 0) {
      if (step == 0) return run.start;
      continue;
    }
    const std::int64_t k = step / run.stride;
    if (step % run.stride == 0 && k >= 0 && k < run.count) return run.start + static_cast<int>(k);
  }
  return std::nullopt;
}

}  // namespace weft::mp
