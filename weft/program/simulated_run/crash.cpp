// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <weft/program/simulated_run/crash.hpp>

namespace weft {

namespace {

const World* watched = nullptr;
Console* shown = nullptr;

void say(const char* text) {
  Console::raw_write(2, text, std::strlen(text));
}

// The stack pointer at the time of the crash; null: unknown.
const void* stack_pointer(const void* context) {
#if defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#elif defined(__x86_64__)
  return reinterpret_cast<const void*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#else
  static_cast<void>(context);
  return nullptr;
#endif
}

bool outside_of_stack(const void* address, RankId rank) {
  RankId owner;
  bool beyond = false;
  return !watched->find_stack(address, owner, beyond) || beyond || owner != rank;
}

// Detects an access to the guard or another rank's stack, or a frame so large that it skips both.
bool is_overflow(int signal, const siginfo_t& info, const void* context, RankId rank) {
  if (signal != SIGSEGV && signal != SIGBUS) return false;
  const void* const pointer = stack_pointer(context);
  if (pointer != nullptr && outside_of_stack(pointer, rank)) return true;
  RankId owner;
  bool beyond = false;
  return watched->find_stack(info.si_addr, owner, beyond) && (beyond || owner != rank);
}

// Must be careful with what it calls, as the process is broken. The process ends right after.
void on_crash(int signal, siginfo_t* info, void* context) {
  RankId rank;
  Time now;
  char line[256];
  if (World::current(rank, now)) {
    const bool overflow = is_overflow(signal, *info, context, rank);
    const double us = static_cast<double>(now.in_ps()) / 1e6;
    if (overflow) {
      std::snprintf(line, sizeof line,
                    "weft: error: rank %u overflowed its stack of %zu KiB at %.3f us; give more "
                    "with --stack\n",
                    rank.index, watched->stack_bytes() / 1024, us);
    } else {
      std::snprintf(line, sizeof line, "weft: error: rank %u crashed at %.3f us: %s\n", rank.index,
                    us, strsignal(signal));
    }
  } else {
    std::snprintf(line, sizeof line, "weft: error: the simulator crashed: %s\n", strsignal(signal));
  }
  if (shown != nullptr) shown->show_after_crash(now);
  say(line);
  ::syscall(SYS_exit_group, 128 + signal);  // Bypasses our _exit, which would end only the rank.
}

}  // namespace

void watch_for_crashes(const World& world, Console& console) {
  watched = &world;
  shown = &console;
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

void prepare_thread_for_crashes() {
  static thread_local const std::unique_ptr<char[]> memory = [] {
    constexpr std::size_t size = std::size_t{64} * 1024;
    auto made = std::make_unique<char[]>(size);
    stack_t stack = {};
    stack.ss_sp = made.get();
    stack.ss_size = size;
    sigaltstack(&stack, nullptr);
    return made;
  }();
}

}  // namespace weft
