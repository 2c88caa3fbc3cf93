// SPDX-License-Identifier: Apache-2.0
// Large blocks of memory that ranks ask for. They lie in one region of address space, and what is
// known of them lies elsewhere: a block that is never touched costs neither memory nor a mapping,
// of which a process may have 65,530. Used from all workers at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft {

class Blocks {
 public:
  static constexpr std::size_t least = std::size_t{16} << 10;  // Smaller ones are not for us.
  static constexpr std::size_t grain = std::size_t{64} << 10;  // Every block begins at a multiple.

  constexpr Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  // No end: the region lasts as long as the process, as somebody may hold a block still.

  // Reserves address space, `most` bytes or what there is. Before any other call. False: none.
  bool open(std::size_t most = std::size_t{16} << 40);
  bool is_open() const { return size_ != 0; }

  struct Taken {
    std::byte* data = nullptr;  // Null: no room.
    bool zero = false;          // All of it.
  };
  Taken take(std::size_t size);
  // False: there is no such block.
  bool give(void* block);
  // How much of the block may be used; 0: there is no such block.
  std::size_t size_of(const void* block) const;
  // Gives back the memory behind the first `used` bytes; the block stays as it is.
  void trim(void* block, std::size_t used);

  bool holds(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < size_;
  }
  std::uintptr_t begin() const { return begin_; }
  std::size_t used() const;     // From begin() to the end of all blocks so far.
  std::uint64_t taken() const;  // Bytes of all blocks in use.

 private:
  // What stands at the first grain of a block.
  struct Entry {
    std::uint32_t grains : 31;
    std::uint32_t dirty : 1;  // A free block that still has its memory.
    std::uint32_t next;       // The next free block of this size, as a grain and one; or in_use.
  };
  static constexpr std::uint32_t in_use = 0xffff'ffff;
  // What free blocks may keep of their memory for the next user; beyond it, the system has it back.
  static constexpr std::size_t dirty_most = std::size_t{32} << 20;

  Entry* entry_of(const void* block) const;  // Null: no block begins there.

  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  Entry* entries_ = nullptr;                  // By grain; touched where blocks begin.
  mutable std::mutex mutex_;                  // For the rest, and for entries.
  std::uint32_t unused_ = 0;                  // Grains from here on were never part of a block.
  std::array<std::uint32_t, 256> free_ = {};  // First of each size class, as `next`.
  std::size_t dirty_ = 0;
  std::uint64_t taken_ = 0;
};

// Copies to memory that is all zero. Pages of the source that are zero, as untouched ones are, stay
// untouched in the target.
void copy_touched(std::byte* to, const std::byte* from, std::size_t size);

// Those of this process; open only in a simulation.
extern Blocks program_blocks;

}  // namespace weft
