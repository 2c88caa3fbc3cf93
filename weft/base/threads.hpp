// SPDX-License-Identifier: Apache-2.0
// Threads whose errors reach whoever waits for them: an exception that leaves a plain std::thread
// ends the program without a word to the user.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

// Keeps the first of the exceptions of several threads.
class FirstFailure {
 public:
  // Calls work(); keeps what it throws. Returns false if it threw.
  template <typename Work>
  bool guard(Work&& work) noexcept {
    try {
      work();
      return true;
    } catch (...) {
      keep(std::current_exception());
      return false;
    }
  }
  // Throws what was kept, if anything, and forgets it. REQUIRES: no thread is in guard().
  void rethrow();

 private:
  void keep(std::exception_ptr failure) noexcept;

  std::mutex mutex_;
  std::exception_ptr first_;
};

class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // Waits for all. REQUIRES: they end by themselves.
  ~Threads() { wait(); }

  // Throws std::system_error, which names a remedy, if the system allows no further thread.
  void start(std::function<void()> work);
  std::size_t count() const { return threads_.size(); }
  // Waits for all, then throws the first exception that left any of them.
  void join();

 private:
  void wait();

  FirstFailure failure_;
  std::vector<std::thread> threads_;
};

}  // namespace weft
