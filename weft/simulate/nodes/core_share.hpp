// SPDX-License-Identifier: Apache-2.0
// Cores of a rank, shared by its threads: each works for a slice of time while others wait for a
// core, then goes to the end of the queue. A thread that nobody waits for keeps its core.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <weft/base/units.hpp>

namespace weft {

class CoreShare {
 public:
  // 0 cores: one for every thread.
  CoreShare(std::uint32_t cores, Duration slice) : cores_(cores), slice_(slice) {}

  // A thread begins some work. It has none yet.
  void begin(std::uint32_t thread, Time now, Duration work);
  // When something changes next.
  Time next() const;
  // A thread whose work is done by `now`, those that were done earlier first. Call until there is
  // none, at each moment that next() names.
  std::optional<std::uint32_t> take_done(Time now);

 private:
  struct Job {
    std::uint32_t thread;
    Duration left;
  };
  struct Running {
    Job job;
    Time since, end;  // Of this turn on a core.
  };
  void start(const Job& job, Time now);
  void shorten(Running& running, Time now) const;

  std::uint32_t cores_;
  Duration slice_;
  std::vector<Running> running_;  // In the order in which they began.
  std::deque<Job> queue_;
};

}  // namespace weft
