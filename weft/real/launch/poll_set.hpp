// SPDX-License-Identifier: Apache-2.0
// Descriptors to poll and what to do when they are ready. Filled anew for each iteration of a loop.
#pragma once

#include <functional>
#include <vector>

#include <poll.h>

#include <weft/real/launch/clock.hpp>

namespace weft::launch {

class PollSet {
 public:
  // A descriptor of -1 is ignored.
  void add(int descriptor, short events, std::function<void()> act);
  // Polls, runs the actions of ready descriptors in the order of add(), and clears the set.
  void turn(Deadline until);

 private:
  std::vector<pollfd> waits_;
  std::vector<std::function<void()>> acts_;
};

}  // namespace weft::launch
