// SPDX-License-Identifier: Apache-2.0
// Where the program and its copies lie. One per process, because replaced C library functions are
// called without any context; set once by ProgramCopies::make, then only read.
#pragma once

#include <cstdint>

#include <weft/program/globals/libc_state.hpp>
#include <weft/program/globals/program.hpp>

namespace weft::detail {

struct Space {
  AddressRange program;       // The original.
  AddressRange ranks;         // All copies.
  std::uintptr_t stride = 1;  // Distance between the copies of consecutive ranks.
  bool has_code = false;      // Copies contain code, not just data.
  LibcState* states = nullptr;
  std::uintptr_t first_delta = 0;  // Distance from the original to rank 0's copy.

  // Distance from the original to the current rank's copy. Inside a rank only.
  std::uintptr_t current_delta() const {
    return first_delta + static_cast<std::uintptr_t>(current_libc_state - states) * stride;
  }
  bool holds(std::uintptr_t address) const {
    return program.holds(address) || ranks.holds(address);
  }
};

// Makes a thread for the current rank in place of the C library; null: the C library does.
using ThreadMaker = int (*)(unsigned long* thread, const void* how, void* (*function)(void*),
                            void* argument);
extern ThreadMaker make_thread;

extern Space space;  // Empty outside the simulator.

}  // namespace weft::detail
