// SPDX-License-Identifier: Apache-2.0
// The memory of a window that one access refers to, and what accesses do with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

class TargetMemory {
 public:
  // `blocks` is empty for one block of the command's size at its displacement.
  TargetMemory(const Window::Part& part, const RmaCommand& command,
               std::vector<std::uint64_t> blocks);

  // false: the displacement in bytes is more than any address.
  bool addressable() const { return addressable_; }
  // Whether all of it lies inside the part.
  bool inside(const Window::Part& part) const;
  std::size_t size() const;
  // The memory, if contiguous.
  std::byte* piece() const {
    return blocks_.size() == 2 ? reinterpret_cast<std::byte*>(start_ + blocks_[0]) : nullptr;
  }
  std::vector<std::byte> read() const;
  void write(const std::byte* from) const;

 private:
  bool addressable_ = false;
  std::uintptr_t start_ = 0;  // An integer, as a dynamic window starts at address 0.
  std::vector<std::uint64_t> blocks_;
};

// Does what the command says (put, accumulate, fetch or swap) with the data that came with it.
void change(const RmaCommand& command, const TargetMemory& place,
            const std::vector<std::byte>& data);

}  // namespace weft::mpi
