// SPDX-License-Identifier: Apache-2.0
// Which memory of the process may stay registered after a message, because we hear when the program
// gives it back; and what it gave back. The hooks (registration_hooks.cpp) tell from any thread, at
// any moment, also out of the functions that are called here: they only write it down.
//
// Known: anonymous memory that the program mapped through the C library after arm(); the heap below
// the break, which the C library is told neither to trim nor to go round (so large blocks of malloc
// lie there); the program's own static data; the stack of the main thread. Not known, and so
// registered anew for every message: what was mapped before, arenas and stacks of other threads,
// mapped files, shared memory, data of other libraries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::wire {

struct MemoryRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

class RegistrationWatch {
 public:
  // Whether somebody would tell; from now on it is written down.
  static bool arm();
  static bool knows(const std::byte* begin, const std::byte* end);
  // What was given back, one at a time; false: nothing more. A range of all memory: too much to be
  // remembered one by one.
  static bool next_gone(MemoryRange& out);
  static void disarm();

  // For the hooks.
  static bool armed();
  static void mapped(const void* begin, std::size_t size);
  // Before it happens: afterwards, another thread could have got the same address already.
  static void gone(const void* begin, std::size_t size);
  // The addresses stay what they are, but other pages come in their place.
  static void emptied(const void* begin, std::size_t size);
};

}  // namespace weft::wire

// There when the hooks are linked in.
extern "C" __attribute__((weak)) bool weft_memory_hooks();
