// SPDX-License-Identifier: Apache-2.0
// What the C library's functions for threads do in a simulated rank, and the system call in which
// all waiting of threads ends.
#pragma once

#include <string>

#include <pthread.h>

#include <weft/base/result.hpp>
#include <weft/program/globals/program_copies.hpp>
#include <weft/simulate/nodes/rank_threads.hpp>

namespace weft {

// How a program may come to have threads, as far as that can be seen before it runs.
enum class ThreadUse : std::uint8_t {
  none,
  own,      // It makes them itself.
  open_mp,  // A library makes them, and keeps state for each thread of the system.
};
ThreadUse find_thread_use(const ProgramCopies& copies);

// From now on pthread_create makes a thread of the rank that calls it.
void make_threads_of_ranks();

// From now on waiting of the calling thread, and of those that it makes, is simulated.
Status catch_waits();

// The threads of the rank that calls; null: outside of ranks, or when the rank has no others.
RankThreads* threads_of_caller();

}  // namespace weft
