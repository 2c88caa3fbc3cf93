// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/mp/members.hpp>

namespace weft::mp {

Members Members::all(std::uint32_t ranks) {
  return range(0, ranks);
}

bool Members::within(std::uint32_t first, std::uint32_t ranks) const {
  const auto inside = [&](const Run& run) {
    return run.count == 0 || (run.first - first < ranks && run.last() - first < ranks);
  };
  if (runs_ == nullptr) return inside({first_, stride_, size_, 0});
  return std::all_of(runs_->begin(), runs_->end(), inside);
}

Members Members::range(std::uint32_t first, std::uint32_t ranks) {
  Members members;
  members.first_ = first;
  members.size_ = static_cast<int>(ranks);
  return members;
}

Members Members::of(std::span<const RankId> ranks) {
  std::vector<Run> runs;
  for (const RankId rank : ranks) add(runs, rank);
  Members members;
  if (runs.empty()) return members;
  members.first_ = runs.front().first;
  members.stride_ = runs.front().stride;
  members.size_ = runs.back().start + runs.back().count;
  if (runs.size() == 1) return members;
  runs.shrink_to_fit();
  members.runs_ = std::make_shared<const std::vector<Run>>(std::move(runs));
  return members;
}

// A run of one takes any second member; later ones must keep its stride.
void Members::add(std::vector<Run>& runs, RankId rank) {
  if (runs.empty()) {
    runs.push_back({rank.index, 1, 1, 0});
    return;
  }
  Run& last = runs.back();
  const std::int64_t step = std::int64_t{rank.index} - last.first;
  const bool second = last.count == 1 && step >= INT32_MIN && step <= INT32_MAX;
  if (second) last.stride = static_cast<std::int32_t>(step);
  if (second || step == std::int64_t{last.stride} * last.count) {
    ++last.count;
  } else {
    runs.push_back({rank.index, 1, 1, last.start + last.count});
  }
}

RankId Members::find_run(int index) const {
  WEFT_DCHECK(index >= 0 && index < size_);
  const Run& run = *std::prev(std::upper_bound(runs_->begin(), runs_->end(), index,
                                               [](int i, const Run& r) { return i < r.start; }));
  const std::int64_t value =
      std::int64_t{run.first} + std::int64_t{run.stride} * (index - run.start);
  return RankId(static_cast<std::uint32_t>(value));
}

std::optional<int> Members::Run::find(RankId rank) const {
  const std::int64_t step = std::int64_t{rank.index} - first;
  if (count <= 1 || stride == 0)
    return step == 0 && count > 0 ? std::optional(start) : std::nullopt;
  const std::int64_t k = step / stride;
  const bool here = step % stride == 0 && k >= 0 && k < count;
  return here ? std::optional(start + static_cast<int>(k)) : std::nullopt;
}

std::optional<int> Members::find(RankId rank) const {
  if (runs_ == nullptr) return Run{first_, stride_, size_, 0}.find(rank);
  for (const Run& run : *runs_) {
    if (const auto found = run.find(rank)) return found;
  }
  return std::nullopt;
}

}  // namespace weft::mp
