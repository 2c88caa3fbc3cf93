// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <string_view>

#include <link.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/message/mpi/process.hpp>
#include <weft/parallel/fiber/futex_trap.hpp>
#include <weft/program/globals/space.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/rank_thread_calls.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/program/simulated_run/virtual_clock.hpp>

namespace weft {

namespace {

bool loads_open_mp() {
  const auto look = [](dl_phdr_info* info, std::size_t, void*) {
    const std::string_view path(info->dlpi_name == nullptr ? "" : info->dlpi_name);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    constexpr std::array<std::string_view, 4> known = {"libgomp.", "libomp.", "libomp-",
                                                       "libiomp5."};
    for (const std::string_view one : known)
      if (name.starts_with(one)) return 1;
    return 0;
  };
  return ::dl_iterate_phdr(look, nullptr) != 0;
}

// A system call, because the C library's function is replaced.
void refuse(const char* what) {
  Console::write_out(2, std::string("weft: error: ") + what + "\n");
  ::syscall(SYS_exit_group, 1);
}

constexpr const char* waits_for = "a lock, a condition or a barrier of the program";

// A time span of FUTEX_WAIT, or a moment of the clocks that the program sees.
Time end_of_wait(const FutexCall& call, bool is_span) {
  if (call.timeout == nullptr) return Time::never();
  const auto& given = *static_cast<const timespec*>(call.timeout);
  constexpr std::int64_t most_s = 9'000'000;
  const Time now = Current::fabric()->processor.now();
  const std::int64_t start_s = is_span ? 0 : virtual_start_s;
  const std::int64_t s = given.tv_sec - start_s;
  if (s > most_s) return Time::never();
  if (s < 0) return Time::zero();
  const Duration span = Duration::ns(s * 1'000'000'000 + given.tv_nsec);
  return is_span ? now + span : Time::zero() + span;
}

long wait(const FutexCall& call, std::uint32_t bits, bool is_span) {
  RankThreads& threads = World::current_threads();
  threads.catch_up();
  if (__atomic_load_n(call.word, __ATOMIC_SEQ_CST) != call.value) return -EAGAIN;
  return threads.park(call.word, bits, end_of_wait(call, is_span), waits_for) ? 0 : -ETIMEDOUT;
}

long wake(const FutexCall& call, std::uint32_t most, std::uint32_t bits) {
  RankThreads* const threads = World::current_threads_if_any();
  if (threads == nullptr) return 0;
  threads->catch_up();
  return threads->wake(call.word, most, bits);
}

// Those that would move to another word wake instead, which every user of these calls allows for.
long requeue(const FutexCall& call) {
  const auto more = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(call.timeout));
  const std::uint32_t most = more > UINT_MAX - call.value ? UINT_MAX : call.value + more;
  return wake(call, most, FUTEX_BITSET_MATCH_ANY);
}

long answer(const FutexCall& call) {
  if (RealWaits::active() || Current::fabric() == nullptr) return FutexTrap::declined;
  switch (call.operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      return wait(call, FUTEX_BITSET_MATCH_ANY, true);
    case FUTEX_WAIT_BITSET:
      return wait(call, call.bits, false);
    case FUTEX_WAKE:
      return wake(call, call.value, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
      return wake(call, call.value, call.bits);
    case FUTEX_CMP_REQUEUE:
      if (__atomic_load_n(call.word, __ATOMIC_SEQ_CST) != call.bits) return -EAGAIN;
      [[fallthrough]];
    case FUTEX_REQUEUE:
      return requeue(call);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      refuse(
          "a thread of a rank waits for a lock with priority inheritance, which is not "
          "simulated: use PTHREAD_PRIO_NONE");
      return -ENOSYS;
    default:
      return FutexTrap::declined;
  }
}

// A thread that reads a variable until another changes it never lets the other run. Nothing can
// stop it at a moment that would be the same in every run, so the user is told.
void* watch(void*) {
  constexpr int patience_s = 10;
  const RankThreads::Turn& turn = RankThreads::turn();
  std::uint64_t seen = 0;
  for (int seconds = 0;;) {
    const timespec second = {1, 0};
    ::syscall(SYS_nanosleep, &second, nullptr);
    const std::uint64_t count = turn.count.load(std::memory_order_acquire);
    seconds = count == seen && count % 2 == 1 ? seconds + 1 : 0;
    seen = count;
    if (seconds < patience_s) continue;
    Console::write_out(
        2, "weft: rank " + std::to_string(turn.rank) + ", thread " + std::to_string(turn.thread) +
               " has run for " + std::to_string(patience_s) +
               " s without a call that lets others go on; if it waits for another thread of its "
               "rank it waits forever: let it call sched_yield, or wait for a condition\n");
    return nullptr;
  }
}

// Once; it ends with the process.
void start_watch() {
  static TurnThread* watcher = nullptr;
  if (watcher != nullptr) return;
  watcher = new TurnThread(watch, nullptr);
  if (watcher->start(nullptr) == 0) watcher->let_run();
}

int make_thread(pthread_t* thread, const void* how, void* (*function)(void*), void* argument) {
  if (Status caught = catch_waits(); !caught) {
    Console::write_out(2, "weft: error: " + caught.error().text() + "\n");
    return EAGAIN;
  }
  start_watch();
  RankThreads& threads = World::current_threads();
  threads.catch_up();
  const auto* const process = static_cast<const mpi::Process*>(Current::layer());
  if (process != nullptr && process->thread_level == MPI_THREAD_MULTIPLE) threads.admit();
  return threads.add(function, argument, static_cast<const pthread_attr_t*>(how), *thread);
}

}  // namespace

ThreadUse find_thread_use(const ProgramCopies& copies) {
  if (loads_open_mp()) return ThreadUse::open_mp;
  constexpr std::array<std::string_view, 3> makers = {
      "pthread_create", "thrd_create",
      "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"};
  for (const std::string_view maker : makers)
    if (copies.imports(maker)) return ThreadUse::own;
  return ThreadUse::none;
}

void make_threads_of_ranks() {
  detail::make_thread = make_thread;
}

Status catch_waits() {
  thread_local bool done = false;
  // A thread of a rank has its filter from the one that made it.
  RankThreads* const threads = World::current_threads_if_any();
  const bool inherited = threads != nullptr && threads->current().number != 0;
  if (done || inherited) return {};
  done = true;
  return FutexTrap::install(answer);
}

RankThreads* threads_of_caller() {
  if (ProgramRanks::current() == nullptr || Current::fabric() == nullptr || RealWaits::active())
    return nullptr;
  return World::current_threads_if_any();
}

}  // namespace weft
