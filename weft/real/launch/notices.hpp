// SPDX-License-Identifier: Apache-2.0
// Notices that wait for the program, and a descriptor that is readable as long as there are some or
// as long as a source of them has something to be read.
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

  // `source`: a descriptor from which notices come; -1: they come by add() alone.
  Status open(int source);
  int descriptor() const { return watch_; }
  void add(const Notice& notice);
  bool take(Notice& out);
  // It has ended: it would be readable for ever.
  void forget_source();

 private:
  std::mutex mutex_;
  std::deque<Notice> waiting_;
  int watch_ = -1;  // epoll: of the source and of
  int bell_ = -1;   // eventfd: not zero while something waits
  int source_ = -1;
};

}  // namespace weft::launch
