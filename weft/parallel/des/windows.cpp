// SPDX-License-Identifier: Apache-2.0
#include "weft/parallel/des/windows.hpp"

#include <thread>

#include <weft/base/relax.hpp>

namespace weft {

Partition Partition::even(std::uint32_t processes, int workers) {
  WEFT_CHECK(workers > 0);
  Partition made;
  for (int w = 0; w <= workers; ++w) {
    made.first.push_back(
        static_cast<std::uint32_t>(std::uint64_t{processes} * static_cast<std::uint64_t>(w) /
                                   static_cast<std::uint64_t>(workers)));
  }
  return made;
}

Agenda::Agenda(Partition partition, Duration window)
    : window_ps_(window.in_ps()), partition_(std::move(partition)) {
  WEFT_CHECK(window_ps_ > 0);
  for (int w = 0; w < workers(); ++w) {
    const auto i = static_cast<std::size_t>(w);
    calendars_.emplace_back(partition_.first[i], partition_.first[i + 1] - partition_.first[i]);
  }
}

// If each worker has a core, spin about as long as one waits for another in a window of a large
// network (5 % of the time of 65,536 ranks on two cores). Else leave the core to others soon.
MinBarrier::MinBarrier(int workers)
    : workers_(workers),
      spins_((static_cast<unsigned>(workers) <= std::thread::hardware_concurrency() ? 200 : 4) *
             relaxes_per_us) {}

std::int64_t MinBarrier::wait(std::int64_t mine) {
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  std::atomic<std::int64_t>& best = best_[round & 1];
  std::int64_t seen = best.load(std::memory_order_relaxed);
  while (mine < seen && !best.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
  }
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_) {
    arrived_.store(0, std::memory_order_relaxed);
    // The other slot belongs to the next round. All have read it before they arrived in this one.
    best_[(round + 1) & 1].store(INT64_MAX, std::memory_order_relaxed);
    // In order with what notify_all() reads: GCC 12's library looks for sleepers by a plain load,
    // which may come before a plain store, and then leaves one asleep for ever.
    round_.exchange(round + 1, std::memory_order_seq_cst);
    round_.notify_all();
  } else {
    for (int i = 0; i < spins_ && round_.load(std::memory_order_acquire) == round; ++i) relax();
    round_.wait(round, std::memory_order_acquire);
  }
  return best.load(std::memory_order_relaxed);
}

void run_workers(int workers, const std::function<void(int)>& work) {
  Threads threads;
  for (int w = 1; w < workers; ++w) threads.start([&work, w] { work(w); });
  FirstFailure own;
  own.guard([&work] { work(0); });
  threads.join();
  own.rethrow();
}

WorkerThreads::~WorkerThreads() {
  work_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void WorkerThreads::run(const std::function<void(int)>& work) {
  // Before the round begins: those that take part in it wait for each other.
  while (threads_.count() + 1 < static_cast<std::size_t>(workers_)) {
    const int worker = static_cast<int>(threads_.count()) + 1;
    const std::uint32_t seen = round_.load(std::memory_order_relaxed);
    threads_.start([this, worker, seen] { serve(worker, seen); });
  }
  work_ = &work;
  busy_.store(workers_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  failure_.guard([&work] { work(0); });
  for (int left = busy_.load(std::memory_order_acquire); left > 0;
       left = busy_.load(std::memory_order_acquire)) {
    busy_.wait(left, std::memory_order_acquire);
  }
  failure_.rethrow();
}

void WorkerThreads::serve(int worker, std::uint32_t seen) {
  for (;;) {
    round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (work_ == nullptr) return;
    failure_.guard([this, worker] { (*work_)(worker); });
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

}  // namespace weft
