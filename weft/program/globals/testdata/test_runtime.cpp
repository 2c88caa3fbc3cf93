// SPDX-License-Identifier: Apache-2.0
// Replaces the simulator: runs a program's main as many ranks that take turns. Configured by
// environment variables: WEFT_TEST_RANKS (unset: an ordinary run), WEFT_TEST_HOW (delta, copies,
// none; default: detected), WEFT_TEST_WORKERS. Prints one line of facts; the exit code says whether
// ranks failed.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <weft/program/globals/program_copies.hpp>
#include <weft/program/globals/testdata/test_program.h>

namespace {

using weft::ProgramCopies;
using weft::Separation;

constexpr std::size_t stack_size = std::size_t{64} * 1024;

struct Rank {
  std::uint32_t number = 0;
  ucontext_t context{};
  bool done = false;
};
struct Worker {
  ucontext_t scheduler{};
  Rank* current = nullptr;
};

struct Run {
  std::unique_ptr<ProgramCopies> copies;
  std::uint32_t ranks = 0;
  unsigned workers = 1;
  ProgramCopies::Main main = nullptr;
  int count = 0;
  char** arguments = nullptr;
  char** environment = nullptr;
  char* stacks = nullptr;
  std::atomic<std::uint64_t> failed = 0, notes = 0, prepare_ns = 0;
};

Run run;  // NOLINT: one run in a process.
thread_local Worker* worker = nullptr;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::uint64_t resident_kb() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * 4;
}

void rank_body() {
  Rank& rank = *worker->current;
  run.copies->run_constructors(rank.number, run.count, run.arguments, run.environment);
  if (run.copies->main_of(rank.number, run.main)(run.count, run.arguments, run.environment) != 0)
    run.failed.fetch_add(1);
  run.copies->run_destructors(rank.number);
  rank.done = true;
  swapcontext(&rank.context, &worker->scheduler);
}

void make_ready(Rank& rank) {
  const std::uint64_t start = now_ns();
  if (weft::Status ready = run.copies->prepare(rank.number); !ready) {
    std::fprintf(stderr, "%s\n", ready.error().text().c_str());
    std::_Exit(3);
  }
  run.prepare_ns.fetch_add(now_ns() - start);
  getcontext(&rank.context);
  rank.context.uc_stack.ss_sp = run.stacks + rank.number * stack_size;
  rank.context.uc_stack.ss_size = stack_size;
  makecontext(&rank.context, rank_body, 0);
}

// Runs ranks number, number + workers, ... in turns until all are done.
void work(unsigned number) {
  Worker self;
  worker = &self;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::uint32_t rank = number; rank < run.ranks; rank += run.workers) {
    ranks.push_back(std::make_unique<Rank>());
    ranks.back()->number = rank;
    make_ready(*ranks.back());
  }
  for (bool left = true; left;) {
    left = false;
    for (const auto& rank : ranks) {
      if (rank->done) continue;
      self.current = rank.get();
      run.copies->enter(rank->number);
      swapcontext(&self.scheduler, &rank->context);
      run.copies->leave(rank->number);
      left = left || !rank->done;
    }
  }
}

const char* name_of(Separation how) {
  return how == Separation::delta ? "delta" : how == Separation::copies ? "copies" : "none";
}

// Measures the cost of leaving one rank and entering the next, without the stack switch.
void measure_switch() {
  constexpr std::uint32_t rounds = 20'000'000;
  std::uint32_t rank = 0;
  const std::uint64_t start = now_ns();
  for (std::uint32_t i = 0; i < rounds; ++i) {
    run.copies->leave(rank);
    if (++rank == run.ranks) rank = 0;
    run.copies->enter(rank);
  }
  std::printf("switch_ns %.2f\n", static_cast<double>(now_ns() - start) / rounds);
}

int simulate(int count, char** arguments, char** environment) {
  run.count = count;
  run.arguments = arguments;
  run.environment = environment;
  run.stacks = static_cast<char*>(mmap(nullptr, run.ranks * stack_size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  madvise(run.stacks, run.ranks * stack_size, MADV_NOHUGEPAGE);
  const std::uint64_t before = resident_kb();
  const std::uint64_t start = now_ns();
  std::vector<std::thread> threads;
  for (unsigned number = 1; number < run.workers; ++number) threads.emplace_back(work, number);
  work(0);
  for (std::thread& thread : threads) thread.join();
  const auto bytes = run.copies->bytes_per_rank();
  std::printf(
      "how %s ranks %u failed %llu notes %llu prepare_ns %llu total_ms %llu resident_kb "
      "%llu reserved %llu committed %llu\n",
      name_of(run.copies->separation()), run.ranks,
      static_cast<unsigned long long>(run.failed.load()),
      static_cast<unsigned long long>(run.notes.load()),
      static_cast<unsigned long long>(run.prepare_ns.load() / run.ranks),
      static_cast<unsigned long long>((now_ns() - start) / 1000000),
      static_cast<unsigned long long>((resident_kb() - before)),
      static_cast<unsigned long long>(bytes.reserved),
      static_cast<unsigned long long>(bytes.committed));
  if (std::getenv("WEFT_TEST_SWITCH") != nullptr) measure_switch();
  return run.failed.load() == 0 ? 0 : 1;
}

std::optional<Separation> asked_separation() {
  const char* how = std::getenv("WEFT_TEST_HOW");
  if (how == nullptr) return std::nullopt;
  if (std::strcmp(how, "delta") == 0) return Separation::delta;
  if (std::strcmp(how, "copies") == 0) return Separation::copies;
  return Separation::none;
}

}  // namespace

extern "C" {

int globals_test_rank() {
  return worker != nullptr ? static_cast<int>(worker->current->number) : 0;
}
void globals_test_yield() {
  if (worker != nullptr) swapcontext(&worker->current->context, &worker->scheduler);
}
void globals_test_note() {
  run.notes.fetch_add(1);
}
void globals_test_fail(const char* file, int line, const char* what) {
  if (run.failed.fetch_add(1) < 5)
    std::fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, globals_test_rank(), what);
  if (run.copies == nullptr) std::_Exit(1);
}
// Fortran passes by reference and adds an underscore.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
int globals_test_rank_() {
  return globals_test_rank();
}
void globals_test_yield_() {
  globals_test_yield();
}
void globals_test_fail_(const int* line) {
  globals_test_fail("fortran", *line, "check");
}

using Start = int(ProgramCopies::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

int __libc_start_main(ProgramCopies::Main main, int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  auto* original = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  if (const char* ranks = std::getenv("WEFT_TEST_RANKS")) {
    run.ranks = static_cast<std::uint32_t>(std::atoi(ranks));
    if (const char* workers = std::getenv("WEFT_TEST_WORKERS"))
      run.workers = static_cast<unsigned>(std::atoi(workers));
    auto copies = ProgramCopies::make(run.ranks, asked_separation());
    if (!copies) {
      std::fprintf(stderr, "%s\n", copies.error().text().c_str());
      std::_Exit(3);
    }
    run.copies = *std::move(copies);
    run.main = main;
    main = &simulate;
  }
  return original(main, count, arguments, init, fini, rtld_fini, stack_end);
}

// NOLINTEND(readability-identifier-naming,readability-function-size)

}  // extern "C"
