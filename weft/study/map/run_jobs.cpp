// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <weft/base/threads.hpp>
#include <weft/study/map/run_jobs.hpp>

namespace weft::map {

void run_jobs(std::size_t count, int threads, const std::function<void(std::size_t)>& job,
              const std::function<void()>& look) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable changed;
  const std::size_t asked = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  std::size_t working = asked;  // Threads with jobs.
  FirstFailure failure;
  const auto guard = [&](const auto& part) {
    if (!failure.guard(part)) next = count;  // No further job begins.
  };
  const auto work = [&] {
    guard([&] {
      for (std::size_t i = next++; i < count; i = next++) job(i);
    });
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_one();
  };
  Threads workers;
  guard([&] {
    while (workers.count() < asked) workers.start(work);
  });
  std::unique_lock lock(mutex);
  working -= asked - workers.count();
  do {
    if (working > 0) changed.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    guard(look);
    lock.lock();
  } while (working > 0);
  lock.unlock();
  workers.join();
  failure.rethrow();
}

}  // namespace weft::map
