// SPDX-License-Identifier: Apache-2.0
// One rank's calls over time, for the timeline of its run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/base/units.hpp>
#include <weft/message/mpi/profile.hpp>
#include <weft/output/record/timeline.hpp>
#include <weft/parallel/processes/process_group.hpp>

namespace weft {

// One rank's part of a timeline.
struct CallTimelinePart {
  std::uint32_t rank = 0;
  std::vector<std::string> calls;
  std::vector<CallSpan> spans;
  std::int64_t bin_ps = 0;

  void pack(Packer& out) const;
  static CallTimelinePart unpack(Unpacker& in);
};

class CallTimeline final : public mpi::CallListener {
 public:
  // `waited` returns the total time spent waiting for the network so far. Times count from `start`.
  CallTimeline(std::size_t most, std::function<Duration()> waited, Time start = Time::zero())
      : keeper_(most), waited_(std::move(waited)), start_(start) {}

  void entered(const char* call, Time at) override;
  void left(const char* call, Time at) override;
  // A call in progress counts until `now`.
  CallTimelinePart read(std::uint32_t rank, Time now) const;

 private:
  std::uint64_t number_of(const char* call);
  CallSpan span_until(Time at) const;

  SpanKeeper keeper_;
  std::function<Duration()> waited_;
  Time start_;
  std::vector<const char*> calls_;  // String literals, identified by address.
  bool inside_ = false;
  std::uint64_t call_ = 0;
  Time since_;
  Duration waited_before_;
};

// Collective; `peers` may be null. Process 0 gets the timeline of all ranks.
Timeline gather_timelines(ProcessGroup* peers, const std::vector<CallTimelinePart>& mine);

}  // namespace weft
