// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/study/map/run_jobs.hpp>

namespace weft::map {

void run_jobs(std::size_t count, int threads, const std::function<void(std::size_t)>& job,
              const std::function<void()>& look) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t working = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_one();
  };
  std::vector<std::thread> workers;
  for (std::size_t t = working; t-- > 0;) workers.emplace_back(work);
  std::unique_lock lock(mutex);
  do {
    if (working > 0) changed.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    look();
    lock.lock();
  } while (working > 0);
  lock.unlock();
  for (std::thread& t : workers) t.join();
}

}  // namespace weft::map
