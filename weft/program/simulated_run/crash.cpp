// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <csignal>
#include <string_view>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <weft/message/mpi/process.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/program/simulated_run/crash.hpp>
#include <weft/program/simulated_run/crash_text.hpp>

namespace weft {

namespace {

const World* watched = nullptr;
Console* shown = nullptr;

constexpr std::size_t handler_stack_bytes = std::size_t{64} << 10;

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "Segmentation fault";
    case SIGBUS:
      return "Bus error";
    case SIGFPE:
      return "Floating point exception";
    case SIGILL:
      return "Illegal instruction";
    default:
      return "Aborted";
  }
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

// A stack that the system gave to a thread of a rank; empty: the thread has none.
struct OwnStack {
  std::uintptr_t low = 0, high = 0;

  bool contains(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= low && at < high;
  }
  // The guard, or a little beyond it.
  bool guards(const void* address) const {
    constexpr std::uintptr_t guard_max = std::uintptr_t{64} << 10;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at < low + 4096 && at + guard_max >= low;
  }
};
thread_local OwnStack own_stack;

bool outside_of_stack(const void* address, RankId rank) {
  RankId owner;
  bool beyond = false;
  return !watched->find_stack(address, owner, beyond) || beyond || owner != rank;
}

// Detects an access to the guard or another rank's stack, or a frame so large that it skips both.
bool is_overflow(int signal, const siginfo_t& info, const void* context, RankId rank) {
  if (signal != SIGSEGV && signal != SIGBUS) return false;
  const void* const pointer = stack_pointer(context);
  if (own_stack.high != 0) {
    return own_stack.guards(info.si_addr) || (pointer != nullptr && !own_stack.contains(pointer));
  }
  if (pointer != nullptr && outside_of_stack(pointer, rank)) return true;
  RankId owner;
  bool beyond = false;
  return watched->find_stack(info.si_addr, owner, beyond) && (beyond || owner != rank);
}

// What is known of the crash; filled step by step, as each step may crash again.
struct Report {
  int signal = 0;
  bool in_rank = false, overflow = false;
  RankId rank;
  Time now;
  const char* call = nullptr;
};
Report report;
std::atomic<int> step = 0;

void find_rank() {
  report.in_rank = World::current(report.rank, report.now);
}

// The call's name is a literal, so its first letters show whether the pointer is still good.
void find_call() {
  const auto* const layer = static_cast<const mpi::Process*>(Current::layer());
  if (!report.in_rank || layer == nullptr || layer->call == nullptr) return;
  const std::string_view name(layer->call, 4);
  if (name == "MPI_") report.call = layer->call;
}

void show_output() {
  if (shown != nullptr) shown->show_after_crash(report.now);
}

void print_report() {
  CrashText line;
  line << "weft: error: ";
  if (!report.in_rank) {
    line << "the simulator crashed: " << name_of(report.signal);
  } else if (report.overflow) {
    line << "rank " << report.rank.index << " overflowed its stack of "
         << watched->stack_bytes() / 1024 << " KiB at " << report.now << "; give more with --stack";
  } else {
    line << "rank " << report.rank.index << " crashed at " << report.now;
    if (report.call != nullptr) line << " in " << std::string_view(report.call);
    line << ": " << name_of(report.signal);
  }
  line << "\n";
  Console::write_out(2, line.text());
}

// Uses nothing that the crash may have broken: no heap, no stdio, no lock that is waited for. A
// step that crashes itself is left out. The process ends right after.
void on_crash(int signal, siginfo_t* info, void* context) {
  static std::atomic<long> reporter = 0;
  const long self = ::syscall(SYS_gettid);
  if (long nobody = 0; !reporter.compare_exchange_strong(nobody, self) && nobody != self)
    for (;;) ::pause();  // Another thread is ending the process.
  if (step == 0) report.signal = signal;
  switch (++step) {
    case 1:
      find_rank();
      ++step;
      [[fallthrough]];
    case 2:
      if (report.signal == signal && report.in_rank)
        report.overflow = is_overflow(signal, *info, context, report.rank);
      ++step;
      [[fallthrough]];
    case 3:
      find_call();
      ++step;
      [[fallthrough]];
    case 4:
      show_output();
      ++step;
      [[fallthrough]];
    case 5:
      print_report();
      [[fallthrough]];
    default:
      // Bypasses our _exit, which would end only the rank.
      ::syscall(SYS_exit_group, 128 + report.signal);
  }
}

}  // namespace

void watch_for_crashes(const World& world, Console& console) {
  watched = &world;
  shown = &console;
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

void prepare_own_thread_for_crashes() {
  prepare_thread_for_crashes();
  pthread_attr_t own;
  if (::pthread_getattr_np(::pthread_self(), &own) != 0) return;
  void* low = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&own, &low, &size);
  own_stack.low = reinterpret_cast<std::uintptr_t>(low);
  own_stack.high = own_stack.low + size;
  ::pthread_attr_destroy(&own);
}

void prepare_thread_for_crashes() {
  // Not from the heap, where a stray write could reach it. Lives as long as the process.
  static thread_local const bool prepared = [] {
    void* const memory = ::mmap(nullptr, handler_stack_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = handler_stack_bytes;
    return memory != MAP_FAILED && sigaltstack(&stack, nullptr) == 0;
  }();
  static_cast<void>(prepared);
}

}  // namespace weft
