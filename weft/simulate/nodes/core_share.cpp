// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/simulate/nodes/core_share.hpp>

namespace weft {

void CoreShare::begin(std::uint32_t thread, Time now, Duration work) {
  if (cores_ == 0 || running_.size() < cores_) {
    start({thread, work}, now);
    return;
  }
  queue_.push_back({thread, work});
  for (Running& running : running_) shorten(running, now);
}

void CoreShare::start(const Job& job, Time now) {
  running_.push_back({job, now, now + job.left});
  if (!queue_.empty()) shorten(running_.back(), now);
}

// To the end of the slice in which `now` lies.
void CoreShare::shorten(Running& running, Time now) const {
  const std::int64_t begun = ((now - running.since).in_ps() + slice_.in_ps() - 1) / slice_.in_ps();
  running.end = std::min(running.end, running.since + slice_ * std::max<std::int64_t>(begun, 1));
}

Time CoreShare::next() const {
  Time first = Time::never();
  for (const Running& running : running_) first = std::min(first, running.end);
  return first;
}

std::optional<std::uint32_t> CoreShare::take_done(Time now) {
  for (;;) {
    const auto first =
        std::min_element(running_.begin(), running_.end(),
                         [](const Running& a, const Running& b) { return a.end < b.end; });
    if (first == running_.end() || first->end > now) return std::nullopt;
    const Running ended = *first;
    running_.erase(first);
    const Duration left = ended.job.left - (ended.end - ended.since);
    if (left > Duration::zero()) queue_.push_back({ended.job.thread, left});
    if (!queue_.empty()) {
      const Job job = queue_.front();
      queue_.pop_front();
      start(job, ended.end);
    }
    if (left == Duration::zero()) return ended.job.thread;
  }
}

}  // namespace weft
