// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/program/run_record/call_timeline.hpp>

namespace weft {

void CallTimelinePart::pack(Packer& out) const {
  out.put(rank);
  out.put(bin_ps);
  out.put(std::uint64_t{calls.size()});
  for (const std::string& call : calls) out.put_text(call);
  out.put_list(spans);
}

CallTimelinePart CallTimelinePart::unpack(Unpacker& in) {
  CallTimelinePart pages;
  pages.rank = in.take<std::uint32_t>();
  pages.bin_ps = in.take<std::int64_t>();
  const auto calls = in.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < calls; ++i) pages.calls.push_back(in.take_text());
  pages.spans = in.take_list<CallSpan>();
  return pages;
}

std::uint64_t CallTimeline::number_of(const char* call) {
  if (call_ < calls_.size() && calls_[call_] == call) return call_;
  const auto found = std::find(calls_.begin(), calls_.end(), call);
  const auto number = static_cast<std::uint64_t>(found - calls_.begin());
  if (found == calls_.end()) calls_.push_back(call);
  return number;
}

CallSpan CallTimeline::span_until(Time at) const {
  return {(since_ - start_).in_ps(), (at - start_).in_ps(), (waited_() - waited_before_).in_ps(),
          call_};
}

void CallTimeline::entered(const char* call, Time at) {
  call_ = number_of(call);
  since_ = at;
  waited_before_ = waited_();
  inside_ = true;
}

void CallTimeline::left(const char*, Time at) {
  if (inside_) keeper_.add(span_until(at));
  inside_ = false;
}

CallTimelinePart CallTimeline::read(std::uint32_t rank, Time now) const {
  SpanKeeper keeper = keeper_;
  if (inside_) keeper.add(span_until(now));
  CallTimelinePart pages;
  pages.rank = rank;
  pages.calls.assign(calls_.begin(), calls_.end());
  pages.spans = keeper.spans();
  pages.bin_ps = keeper.bin_ps();
  return pages;
}

Timeline gather_timelines(ProcessGroup* peers, const std::vector<CallTimelinePart>& mine) {
  std::vector<CallTimelinePart> all;
  if (peers == nullptr) {
    all = mine;
  } else {
    Packer packed;
    packed.put(std::uint64_t{mine.size()});
    for (const CallTimelinePart& pages : mine) pages.pack(packed);
    for (const PeerBytes& bytes : peers->gather(packed.take())) {
      Unpacker in(bytes);
      const auto count = in.take<std::uint64_t>();
      for (std::uint64_t i = 0; i < count; ++i) all.push_back(CallTimelinePart::unpack(in));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const CallTimelinePart& a, const CallTimelinePart& b) { return a.rank < b.rank; });
  Timeline timeline;
  for (const CallTimelinePart& pages : all) {
    // Ranks that did not report.
    while (timeline.ranks() < pages.rank) timeline.add_rank({}, {}, 0);
    timeline.add_rank(pages.calls, pages.spans, pages.bin_ps);
  }
  return timeline;
}

}  // namespace weft
