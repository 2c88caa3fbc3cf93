// SPDX-License-Identifier: Apache-2.0
// Replacements for functions of the C and C++ runtime in a simulated program. They must be in the
// shared library that the program links first; outside a rank each calls the original.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <dlfcn.h>
#include <pthread.h>

#include <weft/program/globals/libc_state.hpp>
#include <weft/program/globals/original.hpp>
#include <weft/program/globals/space.hpp>
#include <weft/program/globals/words.h>

namespace {

using weft::current_libc_state;
using weft::LibcState;

random_data* random_of(LibcState& state) {
  if (!state.random_made) {
    ::initstate_r(1, state.random_table, sizeof state.random_table, &state.random);
    state.random_made = true;
  }
  return &state.random;
}

long next_random(LibcState& state) {
  std::int32_t result = 0;
  ::random_r(random_of(state), &result);
  return result;
}

// A thread that a rank starts uses the rank's variables.
struct Start {
  void* (*function)(void*);
  void* argument;
  std::uintptr_t delta;
};

void* run_thread(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  __weft_delta = start->delta;
  return start->function(start->argument);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*function)(void*),
                   void* argument) noexcept {
  WEFT_ORIGINAL(pthread_create);
  if (weft::detail::make_thread != nullptr && current_libc_state != nullptr)
    return weft::detail::make_thread(thread, how, function, argument);
  if (__weft_delta == 0) return original(thread, how, function, argument);
  auto start = std::make_unique<Start>(Start{function, argument, __weft_delta});
  const int error = original(thread, how, run_thread, start.get());
  if (error == 0) static_cast<void>(start.release());
  return error;
}

int rand() noexcept {
  WEFT_ORIGINAL(rand);
  return current_libc_state ? static_cast<int>(next_random(*current_libc_state)) : original();
}

long random() noexcept {
  WEFT_ORIGINAL(random);
  return current_libc_state ? next_random(*current_libc_state) : original();
}

void srandom(unsigned seed) noexcept {
  WEFT_ORIGINAL(srandom);
  if (current_libc_state)
    ::srandom_r(seed, random_of(*current_libc_state));
  else
    original(seed);
}

void srand(unsigned seed) noexcept {
  ::srandom(seed);
}

char* initstate(unsigned seed, char* table, std::size_t size) noexcept {
  WEFT_ORIGINAL(initstate);
  if (!current_libc_state) return original(seed, table, size);
  random_data& data = *random_of(*current_libc_state);
  char* old = reinterpret_cast<char*>(data.state - 1);
  return ::initstate_r(seed, table, size, &data) == 0 ? old : nullptr;
}

char* setstate(char* table) noexcept {
  WEFT_ORIGINAL(setstate);
  if (!current_libc_state) return original(table);
  random_data& data = *random_of(*current_libc_state);
  char* old = reinterpret_cast<char*>(data.state - 1);
  return ::setstate_r(table, &data) == 0 ? old : nullptr;
}

double drand48() noexcept {
  WEFT_ORIGINAL(drand48);
  if (!current_libc_state) return original();
  double result = 0;
  ::drand48_r(&current_libc_state->drand48, &result);
  return result;
}

long lrand48() noexcept {
  WEFT_ORIGINAL(lrand48);
  if (!current_libc_state) return original();
  long result = 0;
  ::lrand48_r(&current_libc_state->drand48, &result);
  return result;
}

long mrand48() noexcept {
  WEFT_ORIGINAL(mrand48);
  if (!current_libc_state) return original();
  long result = 0;
  ::mrand48_r(&current_libc_state->drand48, &result);
  return result;
}

void srand48(long seed) noexcept {
  WEFT_ORIGINAL(srand48);
  if (current_libc_state)
    ::srand48_r(seed, &current_libc_state->drand48);
  else
    original(seed);
}

unsigned short* seed48(unsigned short seed[3]) noexcept {
  WEFT_ORIGINAL(seed48);
  if (!current_libc_state) return original(seed);
  ::seed48_r(seed, &current_libc_state->drand48);
  return current_libc_state->drand48.__old_x;
}

void lcong48(unsigned short parameters[7]) noexcept {
  WEFT_ORIGINAL(lcong48);
  if (current_libc_state)
    ::lcong48_r(parameters, &current_libc_state->drand48);
  else
    original(parameters);
}

char* strtok(char* text, const char* separators) noexcept {
  WEFT_ORIGINAL(strtok);
  return current_libc_state ? ::strtok_r(text, separators, &current_libc_state->strtok)
                            : original(text, separators);
}

// Handlers that a rank registers run when the rank ends. Handlers that a library registers for
// itself, even while a rank runs, run when the process ends; the library's handle distinguishes
// them. NOLINTNEXTLINE(readability-identifier-naming)
int __cxa_atexit(void (*function)(void*), void* argument, void* library) noexcept {
  using Register = int (*)(void (*)(void*), void*, void*);
  static const auto original = reinterpret_cast<Register>(::dlsym(RTLD_NEXT, "__cxa_atexit"));
  if (!current_libc_state || !weft::detail::space.holds(reinterpret_cast<std::uintptr_t>(library)))
    return original(function, argument, library);
  auto* handler =
      new (std::nothrow) weft::ExitHandler{function, argument, current_libc_state->exit_handlers};
  if (handler == nullptr) return -1;
  current_libc_state->exit_handlers = handler;
  return 0;
}

// Used by the unwinder: the table entry for a code address. A copy of the program has the same
// layout as the original, so its entry is the original's, moved.
struct UnwindBases {
  void* text;
  void* data;
  void* function;
};
// NOLINTNEXTLINE(readability-identifier-naming)
const void* _Unwind_Find_FDE(void* code, UnwindBases* bases) {
  using Find = const void* (*)(void*, UnwindBases*);
  static const auto original = reinterpret_cast<Find>(::dlsym(RTLD_NEXT, "_Unwind_Find_FDE"));
  const weft::detail::Space& space = weft::detail::space;
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  if (!space.has_code || !space.ranks.holds(address)) return original(code, bases);
  const std::uintptr_t first = space.ranks.begin;
  const std::uintptr_t copy = first + (address - first) / space.stride * space.stride;
  const std::uintptr_t distance = copy - space.program.begin;
  const void* entry = original(std::bit_cast<void*>(address - distance), bases);
  if (entry == nullptr) return nullptr;
  bases->function = static_cast<char*>(bases->function) + distance;
  return static_cast<const char*>(entry) + distance;
}

#pragma GCC visibility pop

}  // extern "C"
