// SPDX-License-Identifier: Apache-2.0
// Memory of parcels for a world of one worker, where ranks in step first make thousands of them and
// then free them all: the heap takes longer for that than a rank for all the rest of a message.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace weft {

class ParcelPool {
 public:
  // All calls name the same size.
  void* take(std::size_t size) {
    if (free_ == nullptr) add_slab(size);
    Free* const taken = free_;
    free_ = taken->next;
    return taken;
  }
  void give_back(void* memory) { free_ = new (memory) Free{free_}; }

 private:
  struct Free {
    Free* next;
  };
  void add_slab(std::size_t size) {
    constexpr std::size_t count = 64;
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(count * size));
    for (std::size_t i = count; i-- > 0;) give_back(slabs_.back().get() + i * size);
  }

  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  Free* free_ = nullptr;
};

}  // namespace weft
