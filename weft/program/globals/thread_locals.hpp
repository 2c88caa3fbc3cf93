// SPDX-License-Identifier: Apache-2.0
// thread_local variables of the program. Ranks that take turns on a thread would share them, so
// they are saved and restored at every switch; few programs have any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft {

class ThreadLocals {
 public:
  explicit ThreadLocals(std::uint32_t ranks);

  // The initial values lie in the program's data; `distance` leads to the rank's copy of them.
  void prepare(std::uint32_t rank, std::uintptr_t distance);
  // In a thread of the rank's own, which no other rank uses.
  void begin_thread(std::uintptr_t distance) {
    if (filled_ != 0)
      std::memcpy(block(), reinterpret_cast<const std::byte*>(initial_ + distance), filled_);
  }
  void enter(std::uint32_t rank) {
    if (size_ != 0) std::memcpy(block(), &saved_[rank * size_], size_);
  }
  void leave(std::uint32_t rank) {
    if (size_ != 0) std::memcpy(&saved_[rank * size_], block(), size_);
  }

 private:
  static std::byte* block();  // This thread's.

  std::size_t size_ = 0, filled_ = 0;
  std::uintptr_t initial_ = 0;
  std::vector<std::byte> saved_;  // By rank.
};

}  // namespace weft
