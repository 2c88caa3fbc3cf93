// SPDX-License-Identifier: Apache-2.0
#include "weft/parallel/des/calendar.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/parallel/des/windows.hpp>

namespace weft {
namespace {

// Against a map of sets, over random wakes near and far.
TEST(Calendar, KeepsWhatWasWokenAndNothingElse) {
  Rng rng(5);
  const std::uint32_t first = 1000, count = 5000;
  Calendar calendar(first, count);
  std::map<std::int64_t, std::set<std::uint32_t>> expected;
  std::int64_t now = 0;
  for (int round = 0; round < 2000; ++round) {
    for (std::uint64_t i = rng.below(20); i > 0; --i) {
      const auto process = first + static_cast<std::uint32_t>(rng.below(count));
      const std::int64_t window = now + static_cast<std::int64_t>(rng.below(rng.coin() ? 5 : 1000));
      calendar.wake(process, window);
      expected[window].insert(process);
    }
    const std::int64_t next = calendar.next();
    if (expected.empty()) {
      ASSERT_EQ(next, Calendar::no_window);
      continue;
    }
    ASSERT_EQ(next, expected.begin()->first);
    now = next;
    calendar.advance(now);
    const std::vector<std::uint32_t> got = calendar.take_due();
    const std::vector<std::uint32_t> due(expected.begin()->second.begin(),
                                         expected.begin()->second.end());
    ASSERT_EQ(got, due);
    expected.erase(expected.begin());
  }
}

TEST(Partition, CoversAllOnce) {
  const Partition p = Partition::even(10, 3);
  EXPECT_EQ(p.first, (std::vector<std::uint32_t>{0, 3, 6, 10}));
  EXPECT_EQ(Partition::even(2, 4).first.back(), 2u);
}

TEST(MinBarrier, GivesAllTheMinimum) {
  const int workers = 4, rounds = 2000;
  MinBarrier barrier(workers);
  std::vector<std::vector<std::int64_t>> got(workers);
  run_workers(workers, [&](int w) {
    for (int i = 0; i < rounds; ++i) {
      got[static_cast<std::size_t>(w)].push_back(barrier.wait(i * 10 + (w + i) % workers));
    }
  });
  for (const auto& list : got) {
    for (int i = 0; i < rounds; ++i) ASSERT_EQ(list[static_cast<std::size_t>(i)], i * 10);
  }
}

TEST(WorkerThreads, AreTheSameEachTime) {
  const int workers = 3;
  WorkerThreads threads(workers);
  std::vector<std::vector<std::thread::id>> seen(workers);
  for (int round = 0; round < 200; ++round) {
    threads.run(
        [&](int w) { seen[static_cast<std::size_t>(w)].push_back(std::this_thread::get_id()); });
  }
  EXPECT_EQ(seen[0].front(), std::this_thread::get_id());
  for (const auto& ids : seen) {
    EXPECT_EQ(ids.size(), 200u);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), ids.front()), 200);
  }
  EXPECT_NE(seen[1].front(), seen[2].front());
}

TEST(WorkerThreads, CarryErrorsBack) {
  const int workers = 3;
  for (int failing = 0; failing < workers; ++failing) {
    const auto fail = [&](int w) {
      if (w == failing) throw std::bad_alloc();
    };
    EXPECT_THROW(run_workers(workers, fail), std::bad_alloc);
    WorkerThreads threads(workers);
    EXPECT_THROW(threads.run(fail), std::bad_alloc);
    std::atomic<int> done = 0;
    threads.run([&](int) { ++done; });
    EXPECT_EQ(done, workers);
  }
}

// A model in which one process fails in its third visit; the others have work without end.
class Failing {
 public:
  Failing(std::uint32_t processes, int workers, std::uint32_t failing)
      : agenda_(Partition::even(processes, workers), Duration::ps(10)),
        windows_(*this, agenda_, Duration::ps(10)),
        failing_(failing),
        visits_(processes) {
    for (int w = 0; w < workers; ++w) {
      const auto i = static_cast<std::size_t>(w);
      for (std::uint32_t p = agenda_.partition().first[i]; p < agenda_.partition().first[i + 1];
           ++p)
        agenda_.wake(w, p, 0);
    }
  }
  void visit(int worker, std::uint32_t p, Reach reach) {
    if (++visits_[p] == 3 && p == failing_) throw std::bad_alloc();
    agenda_.wake(worker, p, reach.sure_ps);
  }
  void expect(std::uint32_t, int) {}
  void write_mail(int, int) {}
  void read_mail(int, int) {}
  std::int64_t mailed_ps(int) { return INT64_MAX; }
  void run() { windows_.run(Time::never()); }

 private:
  Agenda agenda_;
  Windows<Failing> windows_;
  const std::uint32_t failing_;
  std::vector<int> visits_;
};

TEST(Windows, EndWhereOneWorkerFails) {
  for (const int workers : {1, 2, 3}) {
    for (const std::uint32_t failing : {0u, 4u, 8u}) {
      Failing model(9, workers, failing);
      EXPECT_THROW(model.run(), std::bad_alloc);
    }
  }
}

// Tokens that walk a ring of processes with delay one window or more: order and times must not
// depend on the workers.
class Walk {
 public:
  Walk(std::uint32_t processes, int workers)
      : agenda_(Partition::even(processes, workers), Duration::ps(10)),
        windows_(*this, agenda_, Duration::ps(10)),
        log_(processes),
        due_(processes),
        mail_{std::vector<Mail>(static_cast<std::size_t>(workers * workers)),
              std::vector<Mail>(static_cast<std::size_t>(workers * workers))},
        side_(static_cast<std::size_t>(workers)),
        mailed_(static_cast<std::size_t>(workers), INT64_MAX) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      due_[p].insert(p % 7);
      agenda_.wake(owner(p), p, p % 7);
    }
  }
  void visit(int worker, std::uint32_t p, Reach reach) {
    while (!due_[p].empty() && *due_[p].begin() < reach.sure_ps) {
      const std::int64_t t = *due_[p].begin();
      due_[p].erase(due_[p].begin());
      log_[p].push_back(t);
      if (t > 3000) continue;
      const auto n = static_cast<std::uint32_t>(due_.size());
      const std::uint32_t q = (p + 1 + static_cast<std::uint32_t>(t % 5)) % n;
      const std::int64_t at = t + 10 + t % 13;
      if (owner(q) == worker) {
        due_[q].insert(at);
        agenda_.wake(worker, q, at);
      } else {
        const auto w = static_cast<std::size_t>(worker);
        mail_[side_[w]][w * side_.size() + static_cast<std::size_t>(owner(q))].emplace_back(q, at);
        mailed_[w] = std::min(mailed_[w], at);
      }
    }
    if (!due_[p].empty()) agenda_.wake(worker, p, *due_[p].begin());
  }
  void expect(std::uint32_t, int) {}
  void write_mail(int worker, int side) {
    side_[static_cast<std::size_t>(worker)] = side;
    mailed_[static_cast<std::size_t>(worker)] = INT64_MAX;
  }
  std::int64_t mailed_ps(int worker) const { return mailed_[static_cast<std::size_t>(worker)]; }
  void read_mail(int worker, int side) {
    for (std::size_t from = 0; from < side_.size(); ++from) {
      Mail& box = mail_[side][from * side_.size() + static_cast<std::size_t>(worker)];
      for (const auto& [q, at] : box) {
        due_[q].insert(at);
        agenda_.wake(worker, q, at);
      }
      box.clear();
    }
  }
  std::vector<std::vector<std::int64_t>> run() {
    // Slices that end in the middle of windows.
    for (std::int64_t until = 137; windows_.run(Time::ps(until)); until += 333) {
    }
    return log_;
  }

 private:
  using Mail = std::vector<std::pair<std::uint32_t, std::int64_t>>;
  int owner(std::uint32_t p) const {
    int w = 0;
    while (agenda_.partition().first[static_cast<std::size_t>(w) + 1] <= p) ++w;
    return w;
  }
  Agenda agenda_;
  Windows<Walk> windows_;
  std::vector<std::vector<std::int64_t>> log_;
  std::vector<std::multiset<std::int64_t>> due_;
  std::vector<Mail> mail_[2];
  std::vector<int> side_;
  std::vector<std::int64_t> mailed_;
};

TEST(Windows, GiveTheSameForAnyNumberOfWorkers) {
  const auto alone = Walk(50, 1).run();
  for (const int workers : {2, 3, 7}) EXPECT_EQ(alone, Walk(50, workers).run()) << workers;
  std::size_t steps = 0;
  for (const auto& list : alone) steps += list.size();
  EXPECT_GT(steps, 5000u);
}

}  // namespace
}  // namespace weft
