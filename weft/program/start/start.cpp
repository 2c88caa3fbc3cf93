// SPDX-License-Identifier: Apache-2.0
// Where the simulator takes over a program: before its main, if `weft sim` started it. Must be in
// the shared library that the program links first, so that these definitions precede the C
// library's own.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <ios>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weft/parallel/processes/join.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/program/globals/program_copies.hpp>
#include <weft/program/globals/shared_state.hpp>
#include <weft/program/rank_process/rank_process.hpp>
#include <weft/program/real_run/job_process.hpp>
#include <weft/program/real_run/singleton.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/large_blocks.hpp>
#include <weft/program/simulated_run/out_of_memory.hpp>
#include <weft/program/simulated_run/ranks.hpp>
#include <weft/program/simulated_run/separate_ranks.hpp>
#include <weft/program/simulated_run/simulated_run.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace {

using weft::ProgramCopies;
using weft::ProgramRanks;

struct Simulation {
  weft::SimulationOptions options;
  weft::SimulationSetup setup;
  std::unique_ptr<ProgramCopies> copies;
  std::unique_ptr<weft::ProcessGroup> peers;  // Null: this process is alone.
  ProgramCopies::Main main = nullptr;
};
Simulation* simulation = nullptr;  // Null in an ordinary run.

int exit_code(weft::Broken broken) {
  switch (broken) {
    case weft::Broken::call:
      return 2;
    case weft::Broken::input:
      return 3;
    case weft::Broken::run:
    case weft::Broken::peer:
      break;
  }
  return 1;
}

// Process 0 returns the exit code for all: a launcher kills the others as soon as one fails, and
// process 0 may still have work to do.
[[noreturn]] void end(int code) {
  const bool answers = weft::launched().self == 0;
  weft::SeparateRanks::end_now();
  if (simulation != nullptr) simulation->peers.reset();  // Waits for the other processes.
  _exit(answers ? code : 0);
}

// All processes find the same error.
[[noreturn]] void fail(const weft::Error& error) {
  if (weft::launched().self == 0)
    weft::Console::write_out(2, "weft: error: " + error.text() + "\n");
  end(exit_code(error.broken()));
}

// For a rank that computes without end and never reaches a point where the request is seen.
void end_now() {
  weft::SeparateRanks::end_now();
  weft::Console::write_out(2, "weft: interrupted inside a rank; there are no results\n");
  ::syscall(SYS_exit_group, 130);  // Not our _exit, which would end only the rank.
}

// A system call, because the C library's function is replaced.
std::int64_t seconds_now() {
  timespec now = {};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

// The second signal ends the run at once. Launchers signal both a process and its group, so signals
// within the same or the next second count as one.
void on_signal(int) {
  static std::atomic<std::int64_t> first{-1};
  std::int64_t never = -1;
  const std::int64_t now = seconds_now();
  if (!first.compare_exchange_strong(never, now)) {
    if (now - first.load() > 1) end_now();
    return;
  }
  weft::request_end();
  ::alarm(5);
}

void on_alarm(int) {
  end_now();
}

// Called in place of the program's main.
int simulate(int count, char** arguments, char** environment) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  std::signal(SIGALRM, on_alarm);
  const auto code = weft::run_simulated(simulation->options, simulation->setup, *simulation->copies,
                                        {simulation->main, count, arguments, environment},
                                        simulation->peers.get());
  if (!code) fail(code.error());
  // Ranks have run their own exit handlers; those of libraries must not run while stacks of ranks
  // are still open.
  std::fflush(nullptr);
  end(*code);
}

// A program of weft itself, as that of weft probe.
bool is_own_program() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() ==
         simulation->options.libraries;
}

// Each rank has its own variables of the program, but not of its libraries.
void warn_of_shared_state() {
  if (is_own_program()) return;
  constexpr std::size_t named_max = 8;
  const std::vector<weft::LibraryState> found = weft::libraries_with_state();
  if (found.empty() || weft::launched().self != 0) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), named_max); ++i)
    names +=
        (i == 0 ? "" : ", ") + found[i].path + " (" + std::to_string(found[i].bytes) + " bytes)";
  if (found.size() > named_max)
    names += " and " + std::to_string(found.size() - named_max) + " more";
  weft::Console::write_out(2, "weft: warning: all ranks share the variables of " + names +
                                  "; link it static (.a), or use --separate processes\n");
}

void prepare(const char* text) {
  weft::watch_for_exhaustion();
  auto options = weft::parse_simulation_options(text);
  if (!options) fail(options.error());
  ::unsetenv(weft::simulation_variable);  // Processes that the program starts are not simulated.
  simulation = new Simulation;            // Lives as long as the process.
  simulation->options = *std::move(options);
  auto setup = weft::read_setup(simulation->options);
  if (!setup) fail(setup.error());
  simulation->setup = *std::move(setup);
  if (const weft::Launch launch = weft::launched(); launch.by != weft::Launch::By::nobody) {
    auto peers = weft::join_job(launch, simulation->options.libraries);
    if (!peers) fail(peers.error());
    simulation->peers = *std::move(peers);
  }
  std::optional<weft::Separation> how;
  const std::string& asked = simulation->options.separation;
  if (asked == "delta") how = weft::Separation::delta;
  if (asked == "copies") how = weft::Separation::copies;
  if (asked == "none" || asked == "processes") how = weft::Separation::none;
  auto copies = ProgramCopies::make(simulation->setup.placement->ranks(), how);
  if (!copies) fail(copies.error());
  simulation->copies = *std::move(copies);
  if (how != weft::Separation::none) warn_of_shared_state();
#ifdef WEFT_OWN_MALLOC
  weft::open_large_and_huge_blocks();
#endif
}

template <typename Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool in_rank() {
  return ProgramRanks::current() != nullptr && weft::Current::fabric() != nullptr;
}

void begin_real() {
  if (weft::has_rank_channel()) {
    weft::begin_rank_process();
  } else if (weft::launch::seat_kept()) {
    weft::begin_job_process();
  } else {
    weft::begin_singleton();
  }
}

void* library_of(const void* address) {
  Dl_info info = {};
  return ::dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

// Programs that are linked with this library call its __libc_start_main. Others load it when they
// already run: Python its extensions, or a program its plug-ins.
__attribute__((constructor)) void begin_in_running_program() {
  const void* const called = ::dlsym(RTLD_DEFAULT, "__libc_start_main");
  if (library_of(called) == library_of(reinterpret_cast<const void*>(&begin_real))) return;
  if (std::getenv(weft::simulation_variable) != nullptr) {
    fail(weft::Error::call(
        "the program loads the MPI library while it runs; weft sim takes over a program before its "
        "start, so use --separate processes, link it with the library ('weft cc', c++, fc), or run "
        "it with weft run"));
  }
  begin_real();
}

}  // namespace

// The names and the declarations are the C library's.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

#pragma GCC visibility push(default)

int __libc_start_main(ProgramCopies::Main main, int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  using Start =
      int (*)(ProgramCopies::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = original<Start>("__libc_start_main");
  if (const char* const text = std::getenv(weft::simulation_variable)) {
    prepare(text);
    simulation->main = main;
    main = simulate;
  } else {
    begin_real();
  }
  return start(main, count, arguments, init, fini, loader_fini, stack_end);
}

// A rank that exits ends alone.
__attribute__((noreturn)) void exit(int code) noexcept {
  if (in_rank()) ProgramRanks::current()->exit_rank(code, true);
  original<void (*)(int)>("exit")(code);
  __builtin_unreachable();
}

__attribute__((noreturn)) void _exit(int code) {
  if (in_rank()) ProgramRanks::current()->exit_rank(code, false);
  original<void (*)(int)>("_exit")(code);
  __builtin_unreachable();
}

__attribute__((noreturn)) void quick_exit(int code) noexcept {
  if (in_rank()) ProgramRanks::current()->exit_rank(code, false);
  original<void (*)(int)>("quick_exit")(code);
  __builtin_unreachable();
}

// Consistent with MPI_Get_processor_name.
int gethostname(char* name, std::size_t size) noexcept {
  static const auto next = original<int (*)(char*, std::size_t)>("gethostname");
  if (!in_rank() && !weft::at_remote_rank()) return next(name, size);
  const weft::RankId self = weft::Current::fabric()->self;
  const std::string own = in_rank() ? ProgramRanks::current()->processor_name(self)
                                    : weft::mpi::self().runtime.processor_name(self);
  if (size == 0 || own.size() >= size) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(name, own.c_str(), own.size() + 1);
  return 0;
}

__attribute__((noreturn)) void _Exit(int code) noexcept {
  _exit(code);
}

// Fortran's runtime writes to descriptors directly.
ssize_t write(int descriptor, const void* data, std::size_t size) {
  static const auto next = original<ssize_t (*)(int, const void*, std::size_t)>("write");
  if ((descriptor == 1 || descriptor == 2) && in_rank() &&
      weft::Console::offer_text(descriptor, static_cast<const char*>(data), size)) {
    return static_cast<ssize_t>(size);
  }
  return next(descriptor, data, size);
}

// So does C++, if it is linked statically into the program.
ssize_t writev(int descriptor, const iovec* parts, int count) {
  static const auto next = original<ssize_t (*)(int, const iovec*, int)>("writev");
  if ((descriptor != 1 && descriptor != 2) || !in_rank()) return next(descriptor, parts, count);
  ssize_t wrote = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t part = write(descriptor, parts[i].iov_base, parts[i].iov_len);
    if (part < 0) return wrote > 0 ? wrote : part;
    wrote += part;
  }
  return wrote;
}

#pragma GCC visibility pop

}  // extern "C"

// Streams with their own buffers would be shared by all ranks; the console is no slower.
#pragma GCC visibility push(default)
bool std::ios_base::sync_with_stdio(bool sync) {
  if (in_rank()) return true;
  return original<bool (*)(bool)>("_ZNSt8ios_base15sync_with_stdioEb")(sync);
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming,readability-function-size)
