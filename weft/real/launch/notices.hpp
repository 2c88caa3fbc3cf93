// SPDX-License-Identifier: Apache-2.0
// A queue of notices for the program, with a descriptor that is readable while the queue is not
// empty or the source of notices is readable.
#pragma once

#include <deque>
#include <mutex>

#include <weft/base/result.hpp>
#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// Threads may add while another takes.
class Notices {
 public:
  Notices() = default;
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  ~Notices();

  // `source` is a descriptor from which notices come; -1 if they come through add() only.
  Status open(int source);
  int descriptor() const { return watch_; }
  void add(const Notice& notice);
  bool take(Notice& out);
  // Stops watching a source that has ended and would be readable forever.
  void forget_source();

 private:
  std::mutex mutex_;
  std::deque<Notice> waiting_;
  int watch_ = -1;  // epoll on the source and on
  int bell_ = -1;   // an eventfd that is nonzero while notices wait
  int source_ = -1;
};

}  // namespace weft::launch
