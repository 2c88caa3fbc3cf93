// SPDX-License-Identifier: Apache-2.0
// Threads of one rank that call the library: one is inside at a time. A thread that waits for
// something lets the others in. Of all that wait, one is the leader: it looks at the network for
// all of them, and wakes those whose conditions have come true.
//
// A process in which one thread alone touches the library has no lock: active() is null, and a call
// pays for one look at it.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace weft {

class CallLock {
 public:
  // The lock of this process; null: it needs none.
  static CallLock* active() { return active_.load(std::memory_order_relaxed); }

  CallLock() = default;
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;
  ~CallLock();

  // The bell becomes readable when a thread that sleeps in the network has to wake: an eventfd that
  // does not block.
  void set_bell(int descriptor) { bell_ = descriptor; }
  // How threads sleep that do not run by themselves: those of a simulated rank. `sleep` returns
  // when the word has changed or somebody woke the thread, `ring` wakes those that sleep in the
  // network.
  class Sleepers {
   public:
    virtual ~Sleepers() = default;
    virtual void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) = 0;
    virtual void wake(std::atomic<std::uint32_t>& word, int most) = 0;
    virtual void ring() = 0;
  };
  // Without it, threads sleep in the kernel.
  void set_sleepers(Sleepers* sleepers) { sleepers_ = sleepers; }
  // Which lock the rank has that goes on now, or null: for a process that runs many in turns.
  static void select(CallLock* lock) { active_.store(lock, std::memory_order_relaxed); }
  // From now on all threads of the process use it. Nobody may be inside the library but the calling
  // thread, which does not hold the lock yet.
  void activate() { active_.store(this, std::memory_order_release); }

  // A call begins and ends. Functions of the program that the library calls may call it again.
  void enter() {
    const pthread_t self = ::pthread_self();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    acquire(self);
    depth_ = 1;
    add(calls_, 1);
    add(inside_, 1);
  }
  void leave() {
    if (--depth_ > 0) return;
    add(inside_, -1);
    release();
  }
  bool outermost() const { return depth_ == 1; }
  // By the calling thread.
  bool held() const { return owner_.load(std::memory_order_relaxed) == ::pthread_self(); }

  // Another thread wants to enter.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed) > 0; }
  // Lets all that want to enter do so, and comes back. Not if nobody does.
  void step_aside();
  // The thread does something else than the library's work, however deep inside it is.
  unsigned let_go();
  void take_up(unsigned depth);

  // Calls so far, and threads that are in one now: for a thread that serves the network while the
  // program computes. It may read them at any time.
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  bool program_is_inside() const { return inside_.load(std::memory_order_relaxed) > 0; }

  // A thread that waits for a condition.
  class Waiter {
   public:
    template <typename Condition>
    explicit Waiter(Condition& condition)
        : condition_(&condition),
          holds_([](void* given) -> bool { return (*static_cast<Condition*>(given))(); }) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Asked until it says yes, by whichever thread is inside, unless the condition itself calls the
    // library: then only the thread that waits may ask.
    bool holds() { return holds_(condition_); }
    bool only_itself = false;

   private:
    friend class CallLock;
    void* condition_;
    bool (*holds_)(void*);
    bool ready_ = false;
    bool in_network_ = false;    // It sleeps there, and not here.
    bool rung_for_ = false;      // It has not heard the bell yet that wakes it there.
    bool has_deferred_ = false;  // It has found nothing, and another sleeps in the network.
    std::int64_t sleeps_until_ms_ = 0;
    pthread_t thread_ = ::pthread_self();
    // Woken: also before it sleeps.
    static constexpr std::uint32_t awake = 0, asleep = 1, woken = 2;
    std::atomic<std::uint32_t> sleep_{awake};
    Waiter *before_ = nullptr, *after_ = nullptr;
  };

  // What a thread that waits does, inside:
  //
  //   if (me.holds()) return;
  //   add(me);
  //   while (!ready(me)) {
  //     if (!leads(me)) { sleep(me); continue; }
  //     ...                                        waits for the network
  //     step_aside();
  //     ...                                        handles what has come
  //     settle(&me);
  //   }
  //   remove(me);
  void add(Waiter& me);
  void remove(Waiter& me);
  bool ready(Waiter& me);
  bool leads(Waiter& me);
  void sleep(Waiter& me);
  // Asks who may go on. `me` is the calling thread, if it waits.
  void settle(Waiter* me);
  // Threads wait, and none of them is about to ask by itself who may go on.
  bool waiters_need_help() const {
    return first_ != nullptr && (leader_ == nullptr || leader_->in_network_);
  }

  // For the network, around a sleep in which it touches nothing. Others may enter meanwhile.
  struct Sleep {
    Waiter* waiter;
    unsigned depth;
  };
  Sleep fall_asleep(std::int64_t until_ms);
  void wake_up(const Sleep& sleep);
  // Another thread sleeps in the network already, and not for longer: the leader need not.
  bool defer(std::int64_t until_ms);
  // Wakes whoever sleeps in the network.
  void ring();

 private:
  template <typename Number>
  static void add(std::atomic<Number>& to, int more) {  // By the thread that is inside.
    to.store(to.load(std::memory_order_relaxed) + static_cast<Number>(more),
             std::memory_order_relaxed);
  }

  void acquire(pthread_t self) {
    std::uint32_t free = is_free;
    const bool others_first = wanted() && last_.load(std::memory_order_relaxed) == self;
    if (others_first || !state_.compare_exchange_strong(free, is_held, std::memory_order_acquire,
                                                        std::memory_order_relaxed)) {
      acquire_slowly(self);
    }
    owner_.store(self, std::memory_order_relaxed);
  }
  void release() {
    last_.store(owner_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    owner_.store(pthread_t{}, std::memory_order_relaxed);
    if (state_.exchange(is_free, std::memory_order_release) == is_contended) wake_one();
  }
  void acquire_slowly(pthread_t self);
  void let_others_first(pthread_t self);
  void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value);
  void wake_at(std::atomic<std::uint32_t>& word, int most = 1);
  void wake_one();
  void wake(Waiter& waiter);
  bool rings_for_somebody() const;

  static std::atomic<CallLock*> active_;
  // The state of the lock itself. Contended: somebody sleeps until it is free.
  static constexpr std::uint32_t is_free = 0, is_held = 1, is_contended = 2;

  std::atomic<std::uint32_t> state_{is_free};
  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<std::uint32_t> turns_{0};       // Of threads that had to wait for it,
  std::atomic<std::uint32_t> giving_way_{0};  // and threads that let them go first.
  std::atomic<pthread_t> owner_{};
  std::atomic<pthread_t> last_{};
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::int32_t> inside_{0};
  // For the thread that is inside.
  unsigned depth_ = 0;
  int bell_ = -1;
  Sleepers* sleepers_ = nullptr;
  bool rung_ = false;
  Waiter *first_ = nullptr, *last_waiter_ = nullptr;  // In the order of coming.
  Waiter* leader_ = nullptr;
};

// Holds the lock of the process, if there is one, for functions that do nothing but look something
// up or change it.
class CallLockHeld {
 public:
  CallLockHeld() : lock_(CallLock::active()) {
    if (lock_ != nullptr) [[unlikely]]
      lock_->enter();
  }
  ~CallLockHeld() {
    if (lock_ != nullptr) [[unlikely]]
      lock_->leave();
  }
  CallLockHeld(const CallLockHeld&) = delete;
  CallLockHeld& operator=(const CallLockHeld&) = delete;
  CallLock* lock() const { return lock_; }

 private:
  CallLock* lock_;
};

}  // namespace weft
