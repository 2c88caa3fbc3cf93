// SPDX-License-Identifier: Apache-2.0
// A queue of records in shared memory, from one process to another. A record begins with a word
// that says its size, and that word is written last: the reader polls a single cache line, and
// finds the beginning of the record in the same line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <weft/base/check.hpp>

namespace weft::wire {

inline constexpr std::size_t line_size = 64;

struct RingMemory {
  static constexpr std::size_t capacity = std::size_t{256} << 10;
  alignas(line_size) std::atomic<std::uint64_t> read{0};  // By the consumer, now and then.
  alignas(line_size) std::byte data[capacity];
};
static_assert(sizeof(RingMemory) == RingMemory::capacity + line_size);

// The word: what the record is, and how many bytes follow. Never 0.
struct RingWord {
  std::uint32_t size = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t mark = 0;

  static constexpr std::uint16_t present = 0x5eed;
  std::uint64_t packed() const {
    return size | (std::uint64_t{kind} << 32) | (std::uint64_t{flags} << 40) |
           (std::uint64_t{present} << 48);
  }
  static RingWord unpack(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint8_t>(word >> 32),
            static_cast<std::uint8_t>(word >> 40), static_cast<std::uint16_t>(word >> 48)};
  }
};

// The bytes that a record takes with its word, in whole cache lines.
inline constexpr std::size_t ring_lines(std::size_t bytes) {
  return (bytes + sizeof(std::uint64_t) + line_size - 1) / line_size * line_size;
}

class RingWriter {
 public:
  // The largest record: it always fits once the reader has caught up.
  static constexpr std::size_t largest = RingMemory::capacity / 4;

  RingWriter() = default;
  explicit RingWriter(RingMemory& memory) : memory_(&memory) {}

  // Room for a record, to be filled and published before the next one; null while there is none.
  std::byte* reserve(std::size_t bytes) {
    const std::size_t lines = ring_lines(bytes);
    WEFT_CHECK(bytes <= largest);
    std::size_t at = written_ % RingMemory::capacity;
    const std::size_t to_end = RingMemory::capacity - at;
    // A record never wraps, and the word after it needs room too.
    const std::size_t skipped = to_end < lines ? to_end : 0;
    if (!has_room(skipped + lines + line_size)) return nullptr;
    if (skipped > 0) {
      word(0).store(0, std::memory_order_relaxed);
      word(at).store(skip, std::memory_order_release);
      written_ += skipped;
      at = 0;
    }
    return memory_->data + at + sizeof(std::uint64_t);
  }
  void publish(RingWord head) {
    const std::size_t at = written_ % RingMemory::capacity;
    const std::uint64_t next = written_ + ring_lines(head.size);
    word(next % RingMemory::capacity).store(0, std::memory_order_relaxed);
    word(at).store(head.packed(), std::memory_order_release);
    written_ = next;
  }

  static constexpr std::uint64_t skip = ~std::uint64_t{0};

 private:
  std::atomic_ref<std::uint64_t> word(std::size_t at) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory_->data + at));
  }
  bool has_room(std::size_t lines) {
    if (written_ + lines - seen_read_ <= RingMemory::capacity) return true;
    seen_read_ = memory_->read.load(std::memory_order_acquire);
    return written_ + lines - seen_read_ <= RingMemory::capacity;
  }

  RingMemory* memory_ = nullptr;
  std::uint64_t written_ = 0, seen_read_ = 0;
};

class RingReader {
 public:
  RingReader() = default;
  explicit RingReader(RingMemory& memory) : memory_(&memory) {}

  // broken: the other process wrote something that is no record.
  enum class State : std::uint8_t { none, record, broken };
  // Takes the next record. Its data stays valid until release().
  State take(RingWord& head, const std::byte*& data) {
    for (;;) {
      const std::size_t at = read_ % RingMemory::capacity;
      const std::uint64_t word =
          std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory_->data + at))
              .load(std::memory_order_acquire);
      if (word == 0) return State::none;
      if (word == RingWriter::skip) {
        read_ += RingMemory::capacity - at;
        continue;
      }
      head = RingWord::unpack(word);
      if (head.mark != RingWord::present || head.size > RingWriter::largest ||
          ring_lines(head.size) > RingMemory::capacity - at) {
        return State::broken;
      }
      data = memory_->data + at + sizeof(std::uint64_t);
      read_ += ring_lines(head.size);
      return State::record;
    }
  }
  // Frees the records taken so far. The writer looks only when it needs room, so it is told of an
  // eighth of the ring at a time.
  void release() {
    if (read_ - told_ < RingMemory::capacity / 8) return;
    memory_->read.store(read_, std::memory_order_release);
    told_ = read_;
  }
  bool ready() const {
    const std::size_t at = read_ % RingMemory::capacity;
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory_->data + at))
               .load(std::memory_order_acquire) != 0;
  }

 private:
  RingMemory* memory_ = nullptr;
  std::uint64_t read_ = 0, told_ = 0;
};

}  // namespace weft::wire
