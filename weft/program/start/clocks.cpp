// SPDX-License-Identifier: Apache-2.0
// The clocks that a simulated program reads show virtual time, and sleeping takes virtual time.
// These functions replace the C library's inside ranks; elsewhere each calls the original.
// A rank's processor is never idle, as MPI libraries poll while they wait, so its
// processor time is all time since the start.
#include <cerrno>
#include <ctime>

#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include <weft/message/mpi/process.hpp>
#include <weft/program/globals/original.hpp>
#include <weft/program/rank_process/rank_process.hpp>
#include <weft/program/simulated_run/rank_thread_calls.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/program/simulated_run/virtual_clock.hpp>

namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t start_s = weft::virtual_start_s;

bool in_rank() {
  return (weft::ProgramRanks::current() != nullptr && weft::Current::layer() != nullptr) ||
         weft::at_remote_rank();
}

std::int64_t since_start_ns() {
  weft::mpi::Process& process = weft::mpi::self();
  process.asked_time();
  return process.fabric.processor.now().since_start().in_ps() / 1000;
}

timespec as_timespec(std::int64_t ns, std::int64_t from_s) {
  return {static_cast<std::time_t>(from_s + ns / ns_per_s), static_cast<long>(ns % ns_per_s)};
}

timeval as_timeval(std::int64_t ns, std::int64_t from_s) {
  return {static_cast<std::time_t>(from_s + ns / ns_per_s),
          static_cast<suseconds_t>(ns % ns_per_s / 1000)};
}

bool of_processor(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

void sleep_for(std::int64_t ns) {
  // Longer sleeps would overflow the virtual clock.
  constexpr std::int64_t longest = 1'000'000 * ns_per_s;
  if (ns <= 0) return;
  const weft::Duration span = weft::Duration::ns(ns < longest ? ns : longest);
  weft::RankThreads* const threads = weft::threads_of_caller();
  if (threads != nullptr && threads->has_several()) {
    threads->sleep_for(span);
    return;
  }
  const weft::Fabric& fabric = *weft::Current::fabric();
  fabric.processor.catch_up();
  fabric.processor.spend(span);
}

bool sound(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < ns_per_s;
}

std::int64_t in_ns(const timespec& time) {
  constexpr std::int64_t most_s = 9'000'000'000;
  return (time.tv_sec < most_s ? time.tv_sec : most_s) * ns_per_s + time.tv_nsec;
}

}  // namespace

// The names are the C library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

#pragma GCC visibility push(default)

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  WEFT_ORIGINAL(clock_gettime);
  if (!in_rank()) return original(clock, now);
  *now = as_timespec(since_start_ns(), of_processor(clock) ? 0 : start_s);
  return 0;
}

int timespec_get(timespec* now, int base) noexcept {
  WEFT_ORIGINAL(timespec_get);
  if (!in_rank() || base != TIME_UTC) return original(now, base);
  *now = as_timespec(since_start_ns(), start_s);
  return base;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  WEFT_ORIGINAL(gettimeofday);
  if (!in_rank()) return original(now, zone);
  *now = as_timeval(since_start_ns(), start_s);
  return 0;
}

std::time_t time(std::time_t* out) noexcept {
  WEFT_ORIGINAL(time);
  if (!in_rank()) return original(out);
  const std::time_t now = as_timespec(since_start_ns(), start_s).tv_sec;
  if (out != nullptr) *out = now;
  return now;
}

std::clock_t clock() noexcept {
  WEFT_ORIGINAL(clock);
  if (!in_rank()) return original();
  return static_cast<std::clock_t>(since_start_ns() / (ns_per_s / CLOCKS_PER_SEC));
}

std::clock_t times(tms* used) noexcept {
  WEFT_ORIGINAL(times);
  if (!in_rank()) return original(used);
  const auto ticks =
      static_cast<std::clock_t>(since_start_ns() / (ns_per_s / ::sysconf(_SC_CLK_TCK)));
  if (used != nullptr) *used = {ticks, 0, 0, 0};
  return ticks;
}

int getrusage(__rusage_who_t who, rusage* used) noexcept {
  WEFT_ORIGINAL(getrusage);
  const int result = original(who, used);
  if (result != 0 || !in_rank()) return result;
  used->ru_utime = as_timeval(since_start_ns(), 0);
  used->ru_stime = {};
  return 0;
}

unsigned sleep(unsigned seconds) {
  WEFT_ORIGINAL(sleep);
  if (!in_rank()) return original(seconds);
  sleep_for(std::int64_t{seconds} * ns_per_s);
  return 0;
}

int usleep(useconds_t us) {
  WEFT_ORIGINAL(usleep);
  if (!in_rank()) return original(us);
  sleep_for(std::int64_t{us} * 1000);
  return 0;
}

// Without file descriptors, these two are sleeps.
int poll(pollfd* files, nfds_t count, int timeout_ms) {
  WEFT_ORIGINAL(poll);
  if (!in_rank() || count != 0 || timeout_ms < 0) return original(files, count, timeout_ms);
  sleep_for(std::int64_t{timeout_ms} * 1'000'000);
  return 0;
}

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  WEFT_ORIGINAL(select);
  if (!in_rank() || count != 0 || timeout == nullptr)
    return original(count, read, write, except, timeout);
  sleep_for(in_ns({timeout->tv_sec, timeout->tv_usec * 1000}));
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  WEFT_ORIGINAL(nanosleep);
  if (!in_rank()) return original(time, left);
  if (!sound(*time)) {
    errno = EINVAL;
    return -1;
  }
  sleep_for(in_ns(*time));
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  WEFT_ORIGINAL(clock_nanosleep);
  if (!in_rank()) return original(clock, flags, time, left);
  if (!sound(*time)) return EINVAL;
  const bool until = (flags & TIMER_ABSTIME) != 0;
  const std::int64_t start_ns = of_processor(clock) ? 0 : start_s * ns_per_s;
  sleep_for(until ? in_ns(*time) - start_ns - since_start_ns() : in_ns(*time));
  return 0;
}

#pragma GCC visibility pop

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
