// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/poll_set.hpp"

#include <utility>

namespace weft::launch {

void PollSet::add(int descriptor, short events, std::function<void()> act) {
  if (descriptor < 0) return;
  waits_.push_back({descriptor, events, 0});
  acts_.push_back(std::move(act));
}

void PollSet::turn(Deadline until) {
  const int ready = ::poll(waits_.data(), waits_.size(), until.left_ms());
  for (std::size_t i = 0; ready > 0 && i < waits_.size(); ++i)
    if (waits_[i].revents != 0) acts_[i]();
  waits_.clear();
  acts_.clear();
}

}  // namespace weft::launch
