// SPDX-License-Identifier: Apache-2.0
// Conservative parallel simulation. Virtual time is cut into windows no longer than the lookahead
// (the least delay with which one process can affect another). Within a window processes are
// independent, so each worker visits its own in any order. Mail written in a window is read after
// it. The model breaks ties by its own keys, so results depend neither on the number of workers nor
// on the window length.
//
// Several operating system processes do the same with one worker each. They agree on a stretch of
// windows, exchange mail with their neighbours after each window, and agree again at its end: the
// busier they are, the longer the stretches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <weft/base/threads.hpp>
#include <weft/base/units.hpp>
#include <weft/parallel/des/calendar.hpp>

namespace weft {

// Processes [first[w], first[w + 1]) belong to worker w.
struct Partition {
  std::vector<std::uint32_t> first;

  int workers() const { return static_cast<int>(first.size()) - 1; }
  static Partition even(std::uint32_t processes, int workers);
};

// When each process is to be visited next: a calendar per worker.
class Agenda {
 public:
  Agenda() = default;
  Agenda(Partition partition, Duration window);

  int workers() const { return partition_.workers(); }
  const Partition& partition() const { return partition_; }
  std::int64_t window_ps() const { return window_ps_; }
  std::int64_t window_of(std::int64_t time_ps) const { return time_ps / window_ps_; }
  Calendar& calendar(int worker) { return calendars_[static_cast<std::size_t>(worker)]; }

  // REQUIRES: called by the worker that owns the process (or between runs); time is not before the
  // window being visited.
  void wake(int worker, std::uint32_t process, std::int64_t time_ps) {
    calendar(worker).wake(process, window_of(time_ps));
  }

 private:
  std::int64_t window_ps_ = 1;
  std::vector<Calendar> calendars_;
  Partition partition_;
};

// A barrier after each window at which all workers learn the minimum of their numbers. Waiting
// workers spin briefly, then sleep.
class MinBarrier {
 public:
  explicit MinBarrier(int workers);
  std::int64_t wait(std::int64_t mine);
  // The number of a worker that failed and leaves: less than all others, so that all learn of it.
  static constexpr std::int64_t failed = INT64_MIN;

 private:
  // What waiting workers look at stands apart from what arriving ones write.
  static constexpr std::size_t line_bytes = 128;  // Two cache lines, which are fetched together.
  const int workers_, spins_;
  alignas(line_bytes) std::atomic<std::int64_t> best_[2] = {INT64_MAX, INT64_MAX};
  std::atomic<int> arrived_{0};
  alignas(line_bytes) std::atomic<std::uint32_t> round_{0};
};

// Runs `work(worker)` on each worker's own thread (worker 0 on the caller's) and waits for all.
// Then throws the first exception that left any of them.
void run_workers(int workers, const std::function<void(int)>& work);

// As run_workers(), many times with the same threads: what belongs to a thread (the stack of a
// paused fiber, an alternate signal stack) stays valid from one call to the next. The threads start
// with the first call.
class WorkerThreads {
 public:
  explicit WorkerThreads(int workers) : workers_(workers) {}
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Worker 0 runs on the caller's thread. Returns, or throws as run_workers() does, when all are
  // done.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int worker, std::uint32_t seen);

  const int workers_;
  const std::function<void(int)>* work_ = nullptr;  // Null: end.
  std::atomic<std::uint32_t> round_{0};
  std::atomic<int> busy_{0};
  FirstFailure failure_;
  Threads threads_;  // Last: they use the others until they have ended.
};

// How far a process may go in a visit. Before `sure` all influences of others are known. Before
// `far` only the slow ones are (packets, not credits): a process that does not depend on the quick
// ones may go on to there, and is visited less often.
struct Reach {
  std::int64_t sure_ps, far_ps;
};

// The windows that the operating system processes play until they agree again.
struct Stretch {
  std::int64_t first;  // Window; Calendar::no_window if no worker has any work.
  int windows;
};

// Runs a model window by window. A model has these functions:
//
//   void visit(int worker, std::uint32_t process, Reach reach)
//     Do all that happens before reach.sure_ps; more is allowed.
//   void expect(std::uint32_t process, int visits_ahead)
//     The process will be visited soon: prefetch what that needs. Called with 3, 2 and 1 as the
//     visit comes nearer.
//   void write_mail(int worker, int side)
//     From now on mail goes to this side, which is empty. There are two, so that one barrier per
//     window is enough: a fast worker writes one while a slow one still reads the other.
//   void read_mail(int worker, int side)
//     Take in what others mailed to this worker on this side, and empty it.
//   std::int64_t mailed_ps(int worker)
//     The earliest time that matters in the mail written since write_mail; INT64_MAX for none.
//
// And where several operating system processes take part:
//
//   Stretch agree(std::int64_t next_window, int busy)
//     Collective: the windows to play next.
//   void exchange()
//     Sends the mail of this window to the neighbours and takes in theirs.
template <typename Model>
class Windows {
 public:
  // `ahead`: how far beyond a window's beginning slow influences are known. The agenda outlives
  // this object; the model wakes its processes there.
  Windows(Model& model, Agenda& agenda, Duration ahead)
      : model_(model),
        agenda_(agenda),
        window_ps_(agenda.window_ps()),
        ahead_ps_(ahead.in_ps()),
        threads_(agenda.workers()) {
    WEFT_CHECK(ahead_ps_ >= window_ps_);
  }

  int workers() const { return agenda_.workers(); }

  // Executes everything that happens before `until`. Returns true when work remains at or after it.
  bool run(Time until) {
    MinBarrier barrier(workers());
    bool remains = false;
    threads_.run([&](int worker) {
      try {
        const bool mine = run_worker(worker, until.in_ps(), barrier);
        if (worker == 0) remains = mine;
      } catch (...) {
        barrier.wait(MinBarrier::failed);  // Where the others wait for this one.
        throw;
      }
    });
    return remains;
  }

  // As run(), for one of several operating system processes, each of which has one worker.
  bool run_among_processes(Time until) {
    Calendar& calendar = agenda_.calendar(0);
    Stretch stretch = model_.agree(calendar.next(), 0);
    for (;;) {
      if (stretch.first == Calendar::no_window) return false;
      if (stretch.first * window_ps_ >= until.in_ps()) return true;
      int busy = 0;
      for (int i = 0; i < stretch.windows; ++i) {
        const std::int64_t window = stretch.first + i;
        calendar.advance(window);
        busy += visit_window(0, window, until.in_ps()) ? 1 : 0;
        model_.exchange();
        // The last one may be cut short; what remains of it is for the next run.
        if ((window + 1) * window_ps_ >= until.in_ps())
          return model_.agree(calendar.next(), busy).first != Calendar::no_window;
      }
      stretch = model_.agree(calendar.next(), busy);
    }
  }

 private:
  // False: there was nothing to do.
  bool visit_window(int worker, std::int64_t window, std::int64_t until) {
    const std::int64_t from = window * window_ps_;
    const Reach reach{std::min(from + window_ps_, until), std::min(from + ahead_ps_, until)};
    const std::vector<std::uint32_t>& due = agenda_.calendar(worker).take_due();
    constexpr std::size_t stride = 2;  // A prefetch takes about as long as this many visits.
    for (std::size_t i = 0; i < due.size(); ++i) {
      for (std::size_t ahead = 1; ahead <= 3; ++ahead) {
        if (i + stride * ahead < due.size())
          model_.expect(due[i + stride * ahead], static_cast<int>(ahead));
      }
      model_.visit(worker, due[i], reach);
    }
    return !due.empty();
  }

  bool run_worker(int worker, std::int64_t until, MinBarrier& barrier) {
    Calendar& calendar = agenda_.calendar(worker);
    const bool alone = workers() == 1;
    std::int64_t next = alone ? calendar.next() : barrier.wait(calendar.next());
    for (int side = 0;; side ^= 1) {
      if (next == Calendar::no_window || next == MinBarrier::failed) return false;
      const std::int64_t from = next * window_ps_;
      if (from >= until) return true;
      calendar.advance(next);
      if (!alone) model_.write_mail(worker, side);
      visit_window(worker, next, until);
      next = calendar.next();
      if (!alone) {
        const std::int64_t mailed = model_.mailed_ps(worker);
        if (mailed != INT64_MAX) next = std::min(next, agenda_.window_of(mailed));
        next = barrier.wait(next);
        if (next == MinBarrier::failed) return false;
        // Nothing that was mailed matters before `next`, so it may be read here, before anyone
        // writes this side again.
        model_.read_mail(worker, side);
      }
      if (from + window_ps_ >= until) return next != Calendar::no_window;
    }
  }

  Model& model_;
  Agenda& agenda_;
  const std::int64_t window_ps_, ahead_ps_;
  WorkerThreads threads_;
};

}  // namespace weft
