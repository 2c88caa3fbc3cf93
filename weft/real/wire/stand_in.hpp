// SPDX-License-Identifier: Apache-2.0
// A thread that serves the network while the program computes, for processes that others depend on:
// relays of managed connections. While the program is inside the library, which then serves the
// network itself, the thread stays away: it only looks now and then whether that is still so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/message/port/call_lock.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

class StandIn {
 public:
  // What it does, with the lock held.
  struct Work {
    std::function<bool()> serve;           // A few events; false: there is nothing to do.
    std::function<std::uint64_t()> count;  // How much has been done for others so far.
    // Ends the job: memory has run out.
    std::function<void(const std::string& why)> fail;
  };
  // The wire must share the lock. All must outlive the object.
  static Result<std::unique_ptr<StandIn>> start(Wire& wire, CallLock& lock, Work work);
  // Ends the thread. The caller may hold the lock.
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

 private:
  StandIn(Wire& wire, CallLock& lock, Work work)
      : wire_(wire), lock_(lock), work_(std::move(work)) {}
  void run();
  void look();
  void serve();
  bool rest();  // false: the end.

  Wire& wire_;
  CallLock& lock_;
  const Work work_;
  std::uint64_t calls_seen_ = 0;  // Of the program,
  std::uint64_t done_seen_ = 0;   // and what had been done for others.
  int quiet_ = 0;                 // Looks since it last did something for others.
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread thread_;
};

}  // namespace weft::wire
