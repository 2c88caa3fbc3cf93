// SPDX-License-Identifier: Apache-2.0
// What to wait for, and what to do when it comes. Filled anew for each turn of a loop.
#pragma once

#include <functional>
#include <vector>

#include <poll.h>

#include <weft/real/launch/clock.hpp>

namespace weft::launch {

class PollSet {
 public:
  // A descriptor of -1 is passed over.
  void add(int descriptor, short events, std::function<void()> act);
  // Acts on all that came, in the order of add(), and forgets everything.
  void turn(Deadline until);

 private:
  std::vector<pollfd> waits_;
  std::vector<std::function<void()>> acts_;
};

}  // namespace weft::launch
