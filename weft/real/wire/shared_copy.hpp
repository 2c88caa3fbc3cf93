// SPDX-License-Identifier: Apache-2.0
// A copy from process to process that both of them work on: each takes the next stretch and copies
// it by a system call, the sender into the receiver's memory, the receiver out of the sender's. If
// one of them is busy elsewhere, the other does it all. A stretch that the system does not copy
// goes through the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/message/port/copy_stretch.hpp>

namespace weft::wire {

// In the receiver's shared memory; zero at first.
struct CopySlot {
  alignas(64) std::atomic<std::uint64_t> claimed{0};  // Stretches.
  std::atomic<std::uint64_t> copied{0};               // Bytes.
  std::atomic<std::uint64_t> finished{0};  // The last copy that the receiver saw complete.
};

// For each pair of sender and receiver.
inline constexpr std::size_t copy_slots = 4;

// As it is announced in the ring.
struct SharedCopy {
  std::uint64_t number = 0;  // Counts from 1 in each slot.
  std::uint64_t slot = 0;
  std::uint64_t source = 0;  // Where the data lies in the sender.
  std::uint64_t size = 0;
  std::uint64_t key = 0, offset = 0;  // Where it goes.

  std::uint64_t stretch() const { return copy_stretch(size); }
};

}  // namespace weft::wire
