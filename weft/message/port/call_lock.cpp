// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/base/relax.hpp>
#include <weft/message/port/call_lock.hpp>

namespace weft {

std::atomic<CallLock*> CallLock::active_{nullptr};

// Not std::atomic's wait, which yields the processor before it sleeps: on a busy machine that costs
// a turn of everybody else.
void CallLock::sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  if (sleepers_ != nullptr) {
    sleepers_->sleep(word, value);
  } else {
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
  }
}

void CallLock::wake_at(std::atomic<std::uint32_t>& word, int most) {
  if (sleepers_ != nullptr) {
    sleepers_->wake(word, most);
  } else {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
  }
}

CallLock::~CallLock() {
  CallLock* self = this;
  active_.compare_exchange_strong(self, nullptr);
}

// A thread that was the last one inside may go in again, a number of times, before those that wait:
// if threads took turns call by call, each call would cost a change of threads. Most calls are
// short: a moment of polling costs less than a sleep. A thread that has slept marks the lock as
// contended, because others may still be asleep.
void CallLock::acquire_slowly(pthread_t self) {
  // Nobody lets go of a simulated lock while this thread runs.
  const int rounds = sleepers_ == nullptr ? 200 : 0;
  constexpr std::uint32_t in_a_row = 64;
  thread_local std::uint32_t again = 0;
  if (++again % in_a_row == 0) {
    let_others_first(self);
  } else if (std::uint32_t free = is_free; state_.compare_exchange_strong(
                 free, is_held, std::memory_order_acquire, std::memory_order_relaxed)) {
    return;
  }
  wanted_.fetch_add(1, std::memory_order_relaxed);
  bool got = false;
  for (std::uint32_t mark = is_held; !got; mark = is_contended) {
    for (int i = 0; i < rounds && !got; ++i) {
      std::uint32_t free = is_free;
      got = state_.load(std::memory_order_relaxed) == is_free &&
            state_.compare_exchange_strong(free, mark, std::memory_order_acquire,
                                           std::memory_order_relaxed);
      if (!got) relax();
    }
    if (!got) got = state_.exchange(is_contended, std::memory_order_acquire) == is_free;
    if (!got) sleep_on(state_, is_contended);
  }
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  turns_.fetch_add(1, std::memory_order_seq_cst);
  if (giving_way_.load(std::memory_order_seq_cst) > 0) wake_at(turns_, INT_MAX);
}

// Waits until one of those that want to enter had its turn, if this thread was the last one inside.
void CallLock::let_others_first(pthread_t self) {
  const std::uint32_t turn = turns_.load(std::memory_order_seq_cst);
  if (!wanted() || last_.load(std::memory_order_relaxed) != self) return;
  giving_way_.fetch_add(1, std::memory_order_seq_cst);
  sleep_on(turns_, turn);
  giving_way_.fetch_sub(1, std::memory_order_relaxed);
}

void CallLock::wake_one() {
  wake_at(state_);
}

unsigned CallLock::let_go() {
  const unsigned depth = depth_;
  depth_ = 0;
  release();
  return depth;
}

void CallLock::take_up(unsigned depth) {
  acquire(::pthread_self());
  depth_ = depth;
}

void CallLock::step_aside() {
  if (!wanted()) return;
  const unsigned depth = let_go();
  let_others_first(::pthread_self());
  take_up(depth);
}

void CallLock::add(Waiter& me) {
  me.before_ = last_waiter_;
  (last_waiter_ == nullptr ? first_ : last_waiter_->after_) = &me;
  last_waiter_ = &me;
}

// The next leader: the first that has not seen the network yet, else who sleeps there already.
void CallLock::remove(Waiter& me) {
  (me.before_ == nullptr ? first_ : me.before_->after_) = me.after_;
  (me.after_ == nullptr ? last_waiter_ : me.after_->before_) = me.before_;
  if (leader_ == &me) leader_ = nullptr;
  if (leader_ != nullptr && !leader_->in_network_) return;
  Waiter *awake = nullptr, *asleep = nullptr, *deferred = nullptr;
  for (Waiter* other = first_; other != nullptr; other = other->after_) {
    if (other->ready_) continue;
    Waiter*& place = other->in_network_ ? asleep : other->has_deferred_ ? deferred : awake;
    if (place == nullptr) place = other;
  }
  if (awake != nullptr) {
    wake(*awake);
  } else if (leader_ == nullptr && asleep != nullptr) {
    leader_ = asleep;
  } else if (leader_ == nullptr && deferred != nullptr) {
    wake(*deferred);
  }
}

bool CallLock::ready(Waiter& me) {
  if (!me.only_itself || me.ready_) return me.ready_;
  // Its condition may wait, as if it came anew.
  if (leader_ == &me) leader_ = nullptr;
  me.ready_ = me.holds();
  return me.ready_;
}

// Not while the bell rings for another: who slept in the network now would wake at once, and keep
// the other from running. That one finds a leader when it goes on.
bool CallLock::leads(Waiter& me) {
  if (rings_for_somebody()) {
    if (leader_ == &me) leader_ = nullptr;
    return false;
  }
  if (leader_ == nullptr || (leader_->in_network_ && !me.has_deferred_)) leader_ = &me;
  return leader_ == &me;
}

void CallLock::sleep(Waiter& me) {
  const unsigned depth = let_go();
  std::uint32_t awake = Waiter::awake;
  if (me.sleep_.compare_exchange_strong(awake, Waiter::asleep, std::memory_order_acquire)) {
    while (me.sleep_.load(std::memory_order_acquire) == Waiter::asleep) {
      sleep_on(me.sleep_, Waiter::asleep);
    }
  }
  take_up(depth);
  me.sleep_.store(Waiter::awake, std::memory_order_relaxed);
}

void CallLock::wake(Waiter& waiter) {
  if (waiter.in_network_) {
    waiter.rung_for_ = true;
    ring();
    return;
  }
  if (waiter.sleep_.exchange(Waiter::woken, std::memory_order_release) == Waiter::asleep) {
    wake_at(waiter.sleep_);
  }
}

void CallLock::settle(Waiter* me) {
  for (Waiter* waiter = first_; waiter != nullptr; waiter = waiter->after_) {
    if (waiter->ready_) continue;
    if (!waiter->only_itself) {
      waiter->ready_ = waiter->holds();
      if (!waiter->ready_) continue;
    }
    if (waiter != me) wake(*waiter);
  }
}

CallLock::Sleep CallLock::fall_asleep(std::int64_t until_ms) {
  Waiter* waiter = leader_;
  if (waiter != nullptr && ::pthread_equal(waiter->thread_, ::pthread_self()) == 0) {
    waiter = nullptr;
  }
  if (waiter != nullptr) {
    waiter->in_network_ = true;
    waiter->sleeps_until_ms_ = until_ms;
  }
  return {waiter, let_go()};
}

// The bell stays loud until all that it is meant for have heard it.
void CallLock::wake_up(const Sleep& sleep) {
  take_up(sleep.depth);
  if (sleep.waiter != nullptr) sleep.waiter->in_network_ = sleep.waiter->rung_for_ = false;
  if (!rung_ || rings_for_somebody()) return;
  rung_ = false;
  if (bell_ < 0) return;
  std::uint64_t count = 0;
  static_cast<void>(!::read(bell_, &count, sizeof count));
}

bool CallLock::rings_for_somebody() const {
  if (!rung_) return false;
  const Waiter* waiter = first_;
  while (waiter != nullptr && !waiter->rung_for_) waiter = waiter->after_;
  return waiter != nullptr;
}

bool CallLock::defer(std::int64_t until_ms) {
  if (leader_ == nullptr || ::pthread_equal(leader_->thread_, ::pthread_self()) == 0) return false;
  for (Waiter* other = first_; other != nullptr; other = other->after_) {
    if (other == leader_ || !other->in_network_ || other->ready_) continue;
    if (other->sleeps_until_ms_ > until_ms) continue;
    leader_->has_deferred_ = true;
    leader_ = other;
    return true;
  }
  return false;
}

void CallLock::ring() {
  if (bell_ < 0 && sleepers_ == nullptr) return;
  rung_ = true;
  if (sleepers_ != nullptr) {
    sleepers_->ring();
    return;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(bell_, &one, sizeof one));
}

}  // namespace weft
