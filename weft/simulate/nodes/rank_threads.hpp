// SPDX-License-Identifier: Apache-2.0
// The threads of a simulated rank: one of them runs at any moment, until it has spent time or
// waits. Those that are due go on in the order of virtual time, and at one moment in the order in
// which they became due, so nothing depends on the machine that simulates.
//
// A rank has an object of this kind once it has a second thread, or when its main flow is a thread
// of the system.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/call_lock.hpp>
#include <weft/parallel/fiber/turn_thread.hpp>
#include <weft/simulate/nodes/core_share.hpp>

namespace weft {

class SimRank;
class RankThreads;

struct RankThread {
  enum class State : std::uint8_t { ready, running, working, in_network, parked, ended };

  RankThread(RankThreads& of, std::uint32_t own_number) : owner(of), number(own_number) {}

  RankThreads& owner;
  const std::uint32_t number;  // 0: the main one.
  State state = State::ready;
  Time due;                  // Of a ready one: since when. Else until when it waits.
  std::uint64_t ticket = 0;  // Order of those that are due at one moment.
  // While it does not run: what the rank has of the running one.
  Duration lag;
  std::int64_t user_since_ns = -1;
  // What a parked one waits at.
  const void* address = nullptr;
  std::uint32_t bits = 0;
  bool woken = false;
  std::string reason;
  bool detached = false;
  unsigned rounds = 0;       // Of destructors of its thread-specific data.
  std::uint32_t yields = 0;  // In a row.
  Time yields_since;
  TurnThread::Entry entry = nullptr;
  void* argument = nullptr;
  void* layer = nullptr;               // Of Current.
  std::unique_ptr<TurnThread> thread;  // Null: it is the rank's fiber.
};

class RankThreads final : public CallLock::Sleepers {
 public:
  explicit RankThreads(SimRank& rank);
  // Those of a rank, from inside of it; its fiber becomes the main one.
  static RankThreads& of(SimRank& rank);
  ~RankThreads() override;

  // By the worker.
  Time next_turn() const;
  void take_turn(Time now);
  bool in_network() const;  // Any of them.

  // The main flow: the rank's fiber, which runs now; or a thread that does not run yet.
  void adopt_fiber();
  int add_main(TurnThread::Entry entry, void* argument, std::size_t stack_bytes);

  // All that follows is called by the running thread.
  RankThread& current() { return *current_; }
  bool has_several() const { return threads_.size() > 1; }
  // Makes a thread, which runs once the calling one waits. Returns an error of the system, or 0.
  int add(TurnThread::Entry entry, void* argument, const pthread_attr_t* attributes, pthread_t& id);
  RankThread* find(pthread_t id);
  void* join(RankThread& thread);
  void detach(RankThread& thread);
  // Waits until no other thread is left.
  void wait_for_others();
  // It never goes on, unless it is joined.
  void end_current();

  // Charges what the calling thread has computed: others go on until its time is over.
  void catch_up();
  // The calling thread works for this time; others go on meanwhile.
  void work(Duration time);
  void sleep_in_network(Time until);
  void sleep_for(Duration time);  // Needs no core.
  // Waits until it is woken at this address. false: the time is over.
  bool park(const void* address, std::uint32_t bits, Time until, const std::string& reason);
  std::uint32_t wake(const void* address, std::uint32_t most, std::uint32_t bits);
  // Lets those that are due go first. If nothing else happens for long, time passes.
  void yield();
  // Gives up the turn for good.
  void pause();

  // For libraries that keep one for the whole process: a word of the rank.
  void* critical = nullptr;

  // From now on several threads may be in calls of the library.
  void admit();

  void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) override;
  void wake(std::atomic<std::uint32_t>& word, int most) override;
  void ring() override;

  // Which thread runs, for somebody beside the simulation who looks whether it ever stops.
  struct Turn {
    std::atomic<std::uint64_t> count;  // Odd while one of several threads of a rank runs.
    std::atomic<std::uint32_t> rank, thread;
  };
  static const Turn& turn() { return turn_; }

  struct Wait {
    std::uint32_t thread;
    bool in_call;        // The library knows what it waits for.
    std::string reason;  // Otherwise.
  };
  std::vector<Wait> waits() const;

 private:
  static void* enter(void* given);
  RankThread& append();
  void run(RankThread& thread);
  RankThread* first_due(Time now);
  Time due(const RankThread& thread) const;
  void leave(RankThread::State state, Time until);
  void make_ready(RankThread& thread);
  void reap();

  static inline Turn turn_;

  SimRank& rank_;
  CoreShare cores_;
  std::unique_ptr<CallLock> lock_;
  std::vector<std::unique_ptr<RankThread>> threads_;  // By number; those that were joined are gone.
  RankThread* current_ = nullptr;
  std::uint64_t tickets_ = 0;
  std::uint32_t numbers_ = 0;
  bool reaps_ = false;  // A detached thread has ended.
};

}  // namespace weft
