// SPDX-License-Identifier: Apache-2.0
// Large blocks that ranks allocate. They lie in one region of address space, and their bookkeeping
// lies elsewhere: an untouched block costs neither memory nor a mapping, of which a process may
// have 65,530. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft {

class LargeBlocks {
 public:
  // Smaller blocks come from the C library. Among larger ones are nearly all of a program's message
  // buffers, which cost nothing where data is not carried.
  static constexpr std::size_t least = std::size_t{4} << 10;

  constexpr LargeBlocks() = default;
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;
  // No destructor: the region lasts as long as the process, as somebody may still hold a block.

  // Reserves up to `most` bytes of address space, fewer than 2^31 grains; a grain is a page, or the
  // multiple of it that is given. Call before anything else. Returns false if none is available.
  bool open(std::size_t most = (std::size_t{8} << 40) - (1 << 20), std::size_t grain = 0);
  bool is_open() const { return size_ != 0; }
  // Blocks start at multiples of this.
  std::size_t grain() const { return grain_; }

  struct Taken {
    std::byte* data = nullptr;  // Null: no room.
    bool zero = false;          // The whole block is zero.
  };
  Taken take(std::size_t size);
  // Frees a block. Returns false if there is no such block.
  bool give(void* block);
  // The usable size of the block; 0 if there is no such block.
  std::size_t size_of(const void* block) const;
  // Returns the memory of the first `used` bytes to the system; the block stays allocated.
  void trim(void* block, std::size_t used);

  bool holds(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < size_;
  }
  std::uintptr_t begin() const { return begin_; }
  std::size_t used() const;     // From begin() to the end of the last block.
  std::uint64_t taken() const;  // Total size of the blocks in use.

 private:
  // Bookkeeping of a block, stored at the index of its first grain.
  struct Entry {
    std::uint32_t grains : 31;
    std::uint32_t dirty : 1;  // A free block that still has memory.
    std::uint32_t next;       // Next free block of this size, as grain + 1; or in_use.
  };
  static constexpr std::uint32_t in_use = 0xffff'ffff;
  // Free blocks may keep this much memory for their next user; the rest goes back to the system.
  static constexpr std::size_t dirty_max = std::size_t{32} << 20;

  // Blocks of similar size form a class.
  struct SizeClass {
    std::uint32_t index, grains;
  };
  SizeClass class_of(std::size_t size) const;
  Entry* entry_of(const void* block) const;  // Null if no block starts there.

  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0, grain_ = 0;
  Entry* entries_ = nullptr;                  // By grain; only touched where blocks start.
  mutable std::mutex mutex_;                  // Guards the following, and the entries.
  std::uint32_t unused_ = 0;                  // First grain that was never part of a block.
  std::array<std::uint32_t, 256> free_ = {};  // First free block of each size class, like `next`.
  std::size_t dirty_ = 0;
  std::uint64_t taken_ = 0;
};

// Copies to zeroed memory. Pages of the source that are zero, such as untouched ones, stay
// untouched in the target.
void copy_touched(std::byte* to, const std::byte* from, std::size_t size);

// The blocks of this process; open only in a simulation. Those of 4 MiB and more have grains of 1
// MiB: with pages, each would cost a page of bookkeeping, and thousands of ranks do not fit.
extern LargeBlocks large_blocks, huge_blocks;
constexpr std::size_t huge_least = std::size_t{4} << 20;
void open_large_and_huge_blocks();

}  // namespace weft
