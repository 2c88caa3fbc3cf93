// SPDX-License-Identifier: Apache-2.0
// The library calls of one rank over time, in bounded memory. A keeper is exact as long as its room
// suffices; then time is divided into bins, each labelled with the call that took most of it, and
// bins double in length as the run goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

struct CallSpan {
  std::int64_t begin_ps = 0, end_ps = 0;
  std::int64_t waited_ps = 0;  // The part of that time spent waiting for the network.
  std::uint64_t call = 0;      // 64 bits like the others, because it is written to files as it is.

  bool operator==(const CallSpan&) const = default;
};

class SpanKeeper {
 public:
  // REQUIRES: most >= 4.
  explicit SpanKeeper(std::size_t most) : most_(most) {}

  // Spans must not overlap and come in order of time. Empty ones are ignored.
  void add(const CallSpan& span);

  // All spans so far, in order of time.
  std::vector<CallSpan> spans() const;
  std::int64_t bin_ps() const { return bin_ps_; }  // 0: exact.

 private:
  struct Share {  // Shares of the bin that is being filled.
    std::uint64_t call = 0;
    std::int64_t time = 0, waited = 0;
  };

  void fill(const CallSpan& span);
  void take_part(const CallSpan& span, std::int64_t begin, std::int64_t end);
  static void append(std::vector<CallSpan>& to, const CallSpan& span);
  void close_bin(std::vector<CallSpan>& to) const;
  void coarsen();

  std::size_t most_;
  std::vector<CallSpan> spans_;
  std::int64_t bin_ps_ = 0;
  std::int64_t bin_begin_ = 0;
  std::vector<Share> shares_;
};

}  // namespace weft
