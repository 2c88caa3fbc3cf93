// SPDX-License-Identifier: Apache-2.0
// Shared windows: every rank sees the memory of all. So a rank locks a window and accesses it by
// itself, in memory, and needs nothing of the target: a rank that only loads and stores, outside of
// the library, keeps nobody waiting.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

// At the beginning of the shared memory, one for each rank; zero at first.
struct alignas(64) SharedControl {
  static constexpr std::uint32_t exclusive = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> lock{0};     // `exclusive`, or the number of shared locks.
  std::atomic<std::uint32_t> writers{0};  // That wait for an exclusive lock: they go first.
  std::atomic<std::uint32_t> accumulating{0};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);  // Also between processes.

// Where the parts of ranks lie in the block.
struct SharedLayout {
  struct Want {
    std::uint64_t size = 0;
    std::uint64_t unit = 1;
  };
  std::vector<std::uint64_t> offsets;  // By rank.
  std::uint64_t size = 0;              // Of the block.

  // Parts follow each other without gaps, unless they may lie `apart`: then each begins at a
  // multiple of `alignment`, and of the page size if it is that large. Returns false if the sum is
  // more than can be addressed.
  bool lay_out(const std::vector<Want>& wants, bool apart, std::uint64_t alignment);
};

// Waits for the lock of a rank's part. Returns an error if a rank of the window is lost meanwhile.
int lock_part(Process& process, Window& window, int rank, bool exclusive);
void unlock_part(Window& window, int rank, bool exclusive);

// Performs the access at once. An error: it lies outside of the target's part, or a rank is lost.
int access_shared(Process& process, Window& window, const Access& access);

// What other ranks stored before a synchronisation is seen after it, and what this rank stored
// before it is seen by them, whatever carries the messages of the synchronisation.
class OrderedMemory {
 public:
  OrderedMemory() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  ~OrderedMemory() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  OrderedMemory(const OrderedMemory&) = delete;
  OrderedMemory& operator=(const OrderedMemory&) = delete;
};

}  // namespace weft::mpi
