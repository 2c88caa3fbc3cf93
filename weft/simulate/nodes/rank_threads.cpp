// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <climits>

#include <weft/simulate/nodes/machinery.hpp>
#include <weft/simulate/nodes/rank_threads.hpp>

namespace weft {

namespace {

constexpr Duration slice = Duration::ms(1);
constexpr std::uint32_t any_bits = 0xffff'ffff;

// Destructors of thread-specific data run in rounds, four at most. A thread has ended for its rank
// after the third: what others left behind has then been destroyed in its name.
pthread_key_t end_key() {
  constexpr unsigned rounds_before = 2;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    ::pthread_key_create(&made, [](void* given) {
      auto& thread = *static_cast<RankThread*>(given);
      if (++thread.rounds <= rounds_before) {
        ::pthread_setspecific(end_key(), given);
      } else {
        thread.owner.end_current();
      }
    });
    return made;
  }();
  return key;
}

}  // namespace

RankThreads::RankThreads(SimRank& rank)
    : rank_(rank), cores_(rank.machinery_of().cores_of(rank.self()), slice) {}

// A thread that did not end waits in its object until the process ends.
RankThreads::~RankThreads() {
  for (const auto& thread : threads_) static_cast<void>(thread->thread.release());
}

RankThreads& RankThreads::of(SimRank& rank) {
  if (rank.threads == nullptr) {
    rank.threads = std::make_unique<RankThreads>(rank);
    if (rank.fiber != nullptr) rank.threads->adopt_fiber();
  }
  return *rank.threads;
}

RankThread& RankThreads::append() {
  threads_.push_back(std::make_unique<RankThread>(*this, numbers_++));
  return *threads_.back();
}

void RankThreads::adopt_fiber() {
  current_ = &append();
  current_->state = RankThread::State::running;
}

int RankThreads::add_main(TurnThread::Entry entry, void* argument, std::size_t stack_bytes) {
  constexpr std::size_t least = std::size_t{256} << 10;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, std::max(stack_bytes, least));
  RankThread& main = append();
  main.entry = entry;
  main.argument = argument;
  main.thread = std::make_unique<TurnThread>(&RankThreads::enter, &main);
  const int error = main.thread->start(&attributes);
  ::pthread_attr_destroy(&attributes);
  return error;
}

// All threads of the system can be joined: only then is it known when one is gone.
int RankThreads::add(TurnThread::Entry entry, void* argument, const pthread_attr_t* attributes,
                     pthread_t& id) {
  pthread_attr_t own;
  ::pthread_attr_init(&own);
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) {
    own = *attributes;
    ::pthread_attr_getdetachstate(attributes, &detached);
    ::pthread_attr_setdetachstate(&own, PTHREAD_CREATE_JOINABLE);
  }
  RankThread& made = append();
  made.entry = entry;
  made.argument = argument;
  made.layer = Current::layer();
  made.detached = detached == PTHREAD_CREATE_DETACHED;
  made.thread = std::make_unique<TurnThread>(&RankThreads::enter, &made);
  if (const int error = made.thread->start(&own); error != 0) {
    threads_.pop_back();
    return error;
  }
  id = made.thread->id();
  make_ready(made);
  return 0;
}

void* RankThreads::enter(void* given) {
  auto& self = *static_cast<RankThread*>(given);
  SimRank& rank = self.owner.rank_;
  Current::set(&rank.fabric(), self.layer);
  rank.machinery_of().program.begin_thread(rank.self(), self.number == 0);
  rank.leave_call();
  if (self.number != 0) ::pthread_setspecific(end_key(), given);
  return self.entry(self.argument);
}

RankThread* RankThreads::find(pthread_t id) {
  for (const auto& thread : threads_) {
    if (thread->thread != nullptr && ::pthread_equal(thread->thread->id(), id) != 0)
      return thread.get();
  }
  return nullptr;
}

Time RankThreads::due(const RankThread& thread) const {
  switch (thread.state) {
    case RankThread::State::in_network:
      return rank_.inbox_.empty() ? thread.due : std::min(thread.due, rank_.inbox_.front().at);
    case RankThread::State::ready:
    case RankThread::State::parked:
      return thread.due;
    case RankThread::State::running:
    case RankThread::State::working:
    case RankThread::State::ended:
      break;
  }
  return Time::never();
}

Time RankThreads::next_turn() const {
  Time next = cores_.next();
  for (const auto& thread : threads_) next = std::min(next, due(*thread));
  return next;
}

bool RankThreads::in_network() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread->state == RankThread::State::in_network;
  });
}

RankThread* RankThreads::first_due(Time now) {
  while (const auto done = cores_.take_done(now)) {
    for (const auto& thread : threads_) {
      if (thread->number == *done) make_ready(*thread);
    }
  }
  RankThread* first = nullptr;
  Time first_time = Time::never();
  for (const auto& thread : threads_) {
    const Time time = due(*thread);
    if (time > now) continue;
    if (first != nullptr &&
        (time > first_time || (time == first_time && thread->ticket > first->ticket)))
      continue;
    first = thread.get();
    first_time = time;
  }
  return first;
}

void RankThreads::take_turn(Time now) {
  if (reaps_) reap();
  while (!rank_.done) {
    RankThread* const next = first_due(now);
    if (next == nullptr) break;
    run(*next);
    if (reaps_) reap();
  }
}

void RankThreads::run(RankThread& thread) {
  current_ = &thread;
  thread.state = RankThread::State::running;
  rank_.lag_ = thread.lag;
  rank_.user_since_ns_ = thread.user_since_ns;
  CallLock::select(lock_.get());
  const std::uint64_t count = turn_.count.load(std::memory_order_relaxed);
  turn_.rank.store(rank_.self().index, std::memory_order_relaxed);
  turn_.thread.store(thread.number, std::memory_order_relaxed);
  turn_.count.store(count + (has_several() ? 1 : 2), std::memory_order_release);
  if (thread.thread != nullptr) {
    thread.thread->resume();
  } else {
    rank_.leave_call();
    rank_.fiber->resume();
  }
  turn_.count.store(count + 2, std::memory_order_release);
  CallLock::select(nullptr);
}

void RankThreads::pause() {
  RankThread& me = *current_;
  if (me.thread == nullptr) {
    rank_.fiber->pause();
  } else {
    me.thread->pause();
    rank_.leave_call();
  }
}

// The thread's time until its next turn is not its own.
void RankThreads::leave(RankThread::State state, Time until) {
  RankThread& me = *current_;
  me.state = state;
  me.due = until;
  me.ticket = ++tickets_;
  me.lag = rank_.lag_;
  me.user_since_ns = -1;
  pause();
}

void RankThreads::make_ready(RankThread& thread) {
  thread.state = RankThread::State::ready;
  thread.due = rank_.clock_;
  thread.ticket = ++tickets_;
}

void RankThreads::catch_up() {
  rank_.catch_up();
  rank_.settle();
}

void RankThreads::work(Duration time) {
  RankThread& me = *current_;
  me.yields = 0;
  Machinery& machinery = rank_.machinery_of();
  if (machinery.shares_cores(rank_.self())) {
    leave(RankThread::State::parked, machinery.work_end(rank_.self(), rank_.clock_, time));
    return;
  }
  cores_.begin(me.number, rank_.clock_, time);
  leave(RankThread::State::working, Time::never());
}

void RankThreads::sleep_in_network(Time until) {
  constexpr std::int64_t ps_per_ms = 1'000'000'000;
  RankThread& me = *current_;
  me.yields = 0;
  CallLock* const lock = lock_.get();
  if (lock == nullptr || !lock->held()) {
    leave(RankThread::State::in_network, until);
    return;
  }
  if (lock->defer(until.in_ps() / ps_per_ms)) return;
  const CallLock::Sleep asleep = lock->fall_asleep(until.in_ps() / ps_per_ms);
  leave(RankThread::State::in_network, until);
  lock->wake_up(asleep);
}

bool RankThreads::park(const void* address, std::uint32_t bits, Time until,
                       const std::string& reason) {
  RankThread& me = *current_;
  me.yields = 0;
  me.address = address;
  me.bits = bits;
  me.woken = false;
  me.reason = reason;
  if (until <= rank_.clock_) return false;
  leave(RankThread::State::parked, until);
  me.address = nullptr;
  return me.woken;
}

void RankThreads::sleep_for(Duration time) {
  catch_up();
  park(nullptr, 0, rank_.clock_ + time, "the end of its sleep");
}

std::uint32_t RankThreads::wake(const void* address, std::uint32_t most, std::uint32_t bits) {
  std::uint32_t count = 0;
  for (; count < most; ++count) {
    RankThread* first = nullptr;
    for (const auto& thread : threads_) {
      const bool waits = thread->state == RankThread::State::parked && thread->address == address &&
                         (thread->bits & bits) != 0;
      if (waits && (first == nullptr || thread->ticket < first->ticket)) first = thread.get();
    }
    if (first == nullptr) break;
    first->woken = true;
    make_ready(*first);
  }
  return count;
}

// A program that yields in a loop waits for something that another thread does later. The time
// that passes grows with the time that has passed, as for programs that poll.
void RankThreads::yield() {
  constexpr std::uint32_t at_once = 100;
  RankThread& me = *current_;
  if (me.yields == 0) me.yields_since = rank_.now();
  const std::uint32_t yields = me.yields + 1;
  const Time since = me.yields_since;
  if (yields > at_once)
    rank_.spend(std::max((rank_.now() - me.yields_since) / 64, Duration::ns(1)));
  rank_.settle();
  leave(RankThread::State::ready, rank_.clock_);
  me.yields = yields;
  me.yields_since = since;
}

void* RankThreads::join(RankThread& thread) {
  while (thread.state != RankThread::State::ended)
    park(&thread, any_bits, Time::never(), "the end of thread " + std::to_string(thread.number));
  void* const result = thread.thread->join();
  std::erase_if(threads_, [&](const auto& one) { return one.get() == &thread; });
  return result;
}

void RankThreads::detach(RankThread& thread) {
  thread.detached = true;
  if (thread.state == RankThread::State::ended) reaps_ = true;
}

// By the worker: a thread that is gone must not run beside another.
void RankThreads::reap() {
  reaps_ = false;
  for (const auto& thread : threads_) {
    if (thread->detached && thread->state == RankThread::State::ended)
      static_cast<void>(thread->thread->join());
  }
  std::erase_if(threads_, [](const auto& thread) {
    return thread->detached && thread->state == RankThread::State::ended;
  });
}

void RankThreads::wait_for_others() {
  const auto is_open = [this](const auto& thread) {
    return thread.get() != current_ && thread->state != RankThread::State::ended;
  };
  while (std::any_of(threads_.begin(), threads_.end(), is_open))
    park(this, any_bits, Time::never(), "the end of all others");
}

void RankThreads::end_current() {
  rank_.catch_up();
  rank_.settle();
  RankThread& me = *current_;
  wake(&me, UINT_MAX, any_bits);
  wake(this, UINT_MAX, any_bits);
  if (me.detached) reaps_ = true;
  me.state = RankThread::State::ended;
  me.thread->pause();
  // Joined: what remains is the system's business.
  Current::set(nullptr, nullptr);
}

void RankThreads::admit() {
  if (lock_ != nullptr) return;
  lock_ = std::make_unique<CallLock>();
  lock_->set_sleepers(this);
  CallLock::select(lock_.get());
}

void RankThreads::sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  rank_.settle();
  if (word.load() == value) park(&word, any_bits, Time::never(), "another thread in a call");
}

void RankThreads::wake(std::atomic<std::uint32_t>& word, int most) {
  wake(&word, static_cast<std::uint32_t>(most), any_bits);
}

void RankThreads::ring() {
  for (const auto& thread : threads_) {
    if (thread->state == RankThread::State::in_network) make_ready(*thread);
  }
}

std::vector<RankThreads::Wait> RankThreads::waits() const {
  std::vector<Wait> all;
  for (const auto& thread : threads_) {
    if (thread->state == RankThread::State::in_network) all.push_back({thread->number, true, {}});
    if (thread->state == RankThread::State::parked)
      all.push_back({thread->number, false, thread->reason});
  }
  return all;
}

}  // namespace weft
