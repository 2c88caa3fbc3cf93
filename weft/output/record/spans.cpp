// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/output/record/spans.hpp>

namespace weft {

namespace {

// The share of `waited` that falls on `part` of a span of length `whole`.
std::int64_t share_of(std::int64_t waited, std::int64_t part, std::int64_t whole) {
  return static_cast<std::int64_t>(static_cast<double>(waited) * static_cast<double>(part) /
                                   static_cast<double>(whole));
}

}  // namespace

void SpanKeeper::add(const CallSpan& span) {
  if (span.end_ps <= span.begin_ps) return;
  if (bin_ps_ == 0) {
    spans_.push_back(span);
  } else {
    fill(span);
  }
  while (spans_.size() > most_) coarsen();
}

std::vector<CallSpan> SpanKeeper::spans() const {
  std::vector<CallSpan> all = spans_;
  if (!shares_.empty()) close_bin(all);
  return all;
}

void SpanKeeper::take_part(const CallSpan& span, std::int64_t begin, std::int64_t end) {
  auto share = std::find_if(shares_.begin(), shares_.end(),
                            [&](const Share& s) { return s.call == span.call; });
  if (share == shares_.end()) share = shares_.insert(share, {span.call, 0, 0});
  share->time += end - begin;
  share->waited += share_of(span.waited_ps, end - begin, span.end_ps - span.begin_ps);
}

void SpanKeeper::append(std::vector<CallSpan>& to, const CallSpan& span) {
  if (!to.empty() && to.back().call == span.call && to.back().end_ps == span.begin_ps) {
    to.back().end_ps = span.end_ps;
    to.back().waited_ps += span.waited_ps;
  } else {
    to.push_back(span);
  }
}

// The bin goes to the call that took most of it, or to none if the program's own work took more.
void SpanKeeper::close_bin(std::vector<CallSpan>& to) const {
  std::int64_t own = bin_ps_;
  const Share* most = nullptr;
  for (const Share& share : shares_) {
    own -= share.time;
    if (most == nullptr || share.time > most->time) most = &share;
  }
  if (most == nullptr || most->time < own) return;
  append(to, {bin_begin_, bin_begin_ + bin_ps_, share_of(most->waited, bin_ps_, most->time),
              most->call});
}

void SpanKeeper::fill(const CallSpan& span) {
  std::int64_t begin = span.begin_ps;
  while (begin < span.end_ps) {
    if (begin >= bin_begin_ + bin_ps_) {
      close_bin(spans_);
      shares_.clear();
      bin_begin_ = begin / bin_ps_ * bin_ps_;
    }
    const std::int64_t bin_end = bin_begin_ + bin_ps_;
    // Fills whole bins at once, since a call may last as long as the run.
    if (begin == bin_begin_ && span.end_ps >= bin_end) {
      const std::int64_t end = span.end_ps / bin_ps_ * bin_ps_;
      append(spans_,
             {begin, end, share_of(span.waited_ps, end - begin, span.end_ps - span.begin_ps),
              span.call});
      bin_begin_ = begin = end;
      continue;
    }
    const std::int64_t end = std::min(span.end_ps, bin_end);
    take_part(span, begin, end);
    begin = end;
  }
}

void SpanKeeper::coarsen() {
  const std::vector<CallSpan> old = spans();
  const std::int64_t end = old.back().end_ps;
  const auto bins = static_cast<std::int64_t>(most_ / 2);
  bin_ps_ = std::max<std::int64_t>({2 * bin_ps_, (end + bins - 1) / bins, 1});
  spans_.clear();
  shares_.clear();
  bin_begin_ = 0;
  for (const CallSpan& span : old) fill(span);
}

}  // namespace weft
