// SPDX-License-Identifier: Apache-2.0
// Functions for threads in a simulated program: what would change threads behind the simulator's
// back, or tell how many processors there are. All waiting is caught below them (futex_trap.hpp).
// pthread_create itself stands in stand_ins.cpp. Outside ranks each calls the original.
#include <cerrno>
#include <csignal>
#include <memory>

#include <sched.h>
#include <threads.h>

#include <weft/message/mpi/process.hpp>
#include <weft/program/globals/original.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/rank_thread_calls.hpp>
#include <weft/program/simulated_run/ranks.hpp>

namespace {

using weft::ProgramRanks;
using weft::RankThread;
using weft::RankThreads;
using weft::threads_of_caller;

bool in_rank() {
  return ProgramRanks::current() != nullptr && weft::Current::fabric() != nullptr &&
         !weft::RealWaits::active();
}

// A thread of the caller's rank that runs beside its main flow.
RankThread* find(pthread_t id) {
  RankThreads* const threads = threads_of_caller();
  RankThread* const found = threads == nullptr ? nullptr : threads->find(id);
  return found == nullptr || found->number == 0 ? nullptr : found;
}

// A thread that blocked this signal would die of its first wait.
const sigset_t* without_trap(const sigset_t* set, sigset_t& own) {
  if (set == nullptr || !in_rank()) return set;
  own = *set;
  sigdelset(&own, SIGSYS);
  return &own;
}

struct PlainStart {
  int (*function)(void*);
  void* argument;
};

void* run_plain(void* given) {
  const std::unique_ptr<PlainStart> start(static_cast<PlainStart*>(given));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->function(start->argument)));
}

}  // namespace

// The names and the declarations are the C library's and those of OpenMP.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

#pragma GCC visibility push(default)

int pthread_join(pthread_t id, void** result) {
  WEFT_ORIGINAL(pthread_join);
  RankThread* const thread = find(id);
  if (thread == nullptr) return original(id, result);
  if (&thread->owner.current() == thread) return EDEADLK;
  if (thread->detached) return EINVAL;
  thread->owner.catch_up();
  void* const given = thread->owner.join(*thread);
  if (result != nullptr) *result = given;
  return 0;
}

int pthread_tryjoin_np(pthread_t id, void** result) noexcept {
  WEFT_ORIGINAL(pthread_tryjoin_np);
  const RankThread* const thread = find(id);
  if (thread == nullptr) return original(id, result);
  return thread->state == RankThread::State::ended ? ::pthread_join(id, result) : EBUSY;
}

int pthread_detach(pthread_t id) noexcept {
  WEFT_ORIGINAL(pthread_detach);
  RankThread* const thread = find(id);
  if (thread == nullptr) return original(id);
  if (thread->detached) return EINVAL;
  thread->owner.detach(*thread);
  return 0;
}

// A main flow that ends alone leaves the rank to the others.
__attribute__((noreturn)) void pthread_exit(void* result) {
  WEFT_ORIGINAL(pthread_exit);
  RankThreads* const threads = threads_of_caller();
  if (in_rank() && (threads == nullptr || threads->current().number == 0)) {
    if (threads != nullptr) threads->wait_for_others();
    ProgramRanks::current()->exit_rank(0, true);
  }
  original(result);
  __builtin_unreachable();
}

int pthread_cancel(pthread_t id) {
  WEFT_ORIGINAL(pthread_cancel);
  const RankThread* const thread = find(id);
  if (thread == nullptr || &thread->owner.current() == thread) return original(id);
  weft::Console::write_out(2,
                           "weft: warning: pthread_cancel is not simulated: the thread goes on\n");
  return ENOSYS;
}

int sched_yield() noexcept {
  WEFT_ORIGINAL(sched_yield);
  RankThreads* const threads = threads_of_caller();
  if (threads == nullptr) return original();
  threads->catch_up();
  threads->yield();
  return 0;
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  WEFT_ORIGINAL(pthread_sigmask);
  sigset_t own;
  return original(how, without_trap(set, own), before);
}

int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  WEFT_ORIGINAL(sigprocmask);
  sigset_t own;
  return original(how, without_trap(set, own), before);
}

// The C library's functions of this name go around pthread_create.
int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  WEFT_ORIGINAL(thrd_create);
  if (!in_rank()) return original(thread, function, argument);
  auto start = std::make_unique<PlainStart>(PlainStart{function, argument});
  if (::pthread_create(thread, nullptr, run_plain, start.get()) != 0) return thrd_error;
  static_cast<void>(start.release());
  return thrd_success;
}

int thrd_join(thrd_t thread, int* result) {
  WEFT_ORIGINAL(thrd_join);
  if (find(thread) == nullptr) return original(thread, result);
  void* given = nullptr;
  if (::pthread_join(thread, &given) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(given));
  return thrd_success;
}

int thrd_detach(thrd_t thread) {
  return ::pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}

__attribute__((noreturn)) void thrd_exit(int result) {
  ::pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}

void thrd_yield() {
  ::sched_yield();
}

int omp_get_num_procs() {
  WEFT_ORIGINAL(omp_get_num_procs);
  if (in_rank() && ProgramRanks::current()->has_threads())
    return static_cast<int>(ProgramRanks::current()->cores());
  return original == nullptr ? 1 : original();
}

int omp_get_num_procs_() {
  return ::omp_get_num_procs();
}

// GCC's library has one lock for all critical regions without a name, which all ranks would share.
void GOMP_critical_start() {
  WEFT_ORIGINAL(GOMP_critical_start);
  using Named = void (*)(void**);
  static const auto named = reinterpret_cast<Named>(::dlsym(RTLD_NEXT, "GOMP_critical_name_start"));
  if (RankThreads* const threads = threads_of_caller()) {
    threads->catch_up();
    named(&threads->critical);
  } else {
    original();
  }
}

void GOMP_critical_end() {
  WEFT_ORIGINAL(GOMP_critical_end);
  using Named = void (*)(void**);
  static const auto named = reinterpret_cast<Named>(::dlsym(RTLD_NEXT, "GOMP_critical_name_end"));
  if (RankThreads* const threads = threads_of_caller()) {
    threads->catch_up();
    named(&threads->critical);
  } else {
    original();
  }
}

#pragma GCC visibility pop

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
