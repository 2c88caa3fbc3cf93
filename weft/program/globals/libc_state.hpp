// SPDX-License-Identifier: Apache-2.0
// State that the C and C++ libraries keep for a program between calls, once per rank.
// Stateful functions (rand, drand48, strtok, getopt, atexit, ...) are replaced by ones that use the
// current rank's state (stand_ins.cpp, options.cpp), so switching costs nothing for them. Only the
// stack of caught exceptions, which C++ keeps per thread, is exchanged at a switch, and only for
// programs that have exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>

#include <weft/base/result.hpp>
#include <weft/program/globals/program.hpp>

namespace weft {

struct ExitHandler {
  void (*function)(void*);
  void* argument;
  ExitHandler* next;
};

// The variables that getopt shares with the program.
struct OptionVariables {
  int optind, opterr, optopt;
  char* optarg;
};
struct OptionScan;  // Progress of getopt.

// All zero at the start of a program, except for the option variables.
struct LibcState {
  void* caught_exceptions;
  unsigned uncaught_exceptions;

  OptionVariables options;  // Used if the program does not have its own.
  OptionScan* option_scan;
  // cout, cerr and clog, if the program does not have its own.
  alignas(std::ostream) std::byte streams[3][sizeof(std::ostream)];
  char* strtok;
  ExitHandler* exit_handlers;  // Most recently registered first.
  drand48_data drand48;
  bool random_made;
  random_data random;
  char random_table[128];
};

// State of the rank that runs on this thread; null outside ranks.
extern constinit thread_local LibcState* current_libc_state
    __attribute__((tls_model("initial-exec")));

class LibcStates {
 public:
  static Result<std::unique_ptr<LibcStates>> make(std::uint32_t ranks, const Program& program);
  ~LibcStates();
  LibcStates(const LibcStates&) = delete;
  LibcStates& operator=(const LibcStates&) = delete;

  void enter(std::uint32_t rank) {
    current_libc_state = states_ + rank;
    if (exceptions_) restore(states_[rank]);
  }
  // In a thread of the rank's own, which has its own exceptions.
  void begin_thread(std::uint32_t rank) { current_libc_state = states_ + rank; }
  void leave(std::uint32_t rank) {
    if (exceptions_) save(states_[rank]);
    current_libc_state = nullptr;
  }
  LibcState& of(std::uint32_t rank) { return states_[rank]; }
  // Call inside the rank. A handler may register another.
  void run_exit_handlers(std::uint32_t rank);

 private:
  LibcStates() = default;
  static void save(LibcState& state);
  static void restore(const LibcState& state);

  LibcState* states_ = nullptr;
  std::size_t bytes_ = 0;
  bool exceptions_ = false;  // The program may catch them.
};

}  // namespace weft
