// SPDX-License-Identifier: Apache-2.0
// Memory that peers may write into. The table itself is shared with the processes of the host, so
// that they can write without asking; others name an entry by its key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/real/wire/region_keys.hpp>

namespace weft::wire {

// In shared memory. The key is written last and removed first.
struct RegionEntry {
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint64_t> address{0};
  std::atomic<std::uint64_t> size{0};
};
struct RegionTable {
  static constexpr std::size_t count = 4096;
  RegionEntry entries[count];
};

struct Stretch {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

class Regions {
 public:
  explicit Regions(RegionTable& table) : table_(table) {
    for (std::uint32_t i = RegionTable::count; i > 0; --i) unused_.push_back(i - 1);
  }

  // Returns a key, never 0. When the shared table is full, entries are private: others reach their
  // memory only through this process.
  std::uint64_t add(std::byte* data, std::size_t size) {
    std::uint32_t index = 0;
    if (!unused_.empty()) {
      index = unused_.back();
      unused_.pop_back();
    } else {
      index = static_cast<std::uint32_t>(own_.size());
      own_.emplace_back();
    }
    if (index >= own_.size()) own_.resize(index + 1);
    Own& own = own_[index];
    own.memory = {data, size};
    std::uint64_t key = 0;
    while (key == 0) key = (std::uint64_t{keys_.scramble(++own.generation)} << 32) | index;
    own.key = key;
    if (index < RegionTable::count) {
      RegionEntry& entry = table_.entries[index];
      entry.address.store(reinterpret_cast<std::uint64_t>(data), std::memory_order_relaxed);
      entry.size.store(size, std::memory_order_relaxed);
      entry.key.store(key, std::memory_order_release);
    }
    return key;
  }
  void remove(std::uint64_t key) {
    const auto index = static_cast<std::uint32_t>(key);
    if (index >= own_.size() || own_[index].key != key) return;
    own_[index].key = 0;
    if (index < RegionTable::count) {
      table_.entries[index].key.store(0, std::memory_order_release);
    }
    unused_.push_back(index);
  }
  // Where to write; null if the memory is not open (any more). Keys come from peers.
  Stretch find(std::uint64_t key, std::uint64_t offset, std::uint64_t size) const {
    const auto index = static_cast<std::uint32_t>(key);
    if (index >= own_.size() || key == 0 || own_[index].key != key) return {};
    const Stretch& memory = own_[index].memory;
    if (offset > memory.size || size > memory.size - offset) return {};
    return {memory.data + offset, static_cast<std::size_t>(size)};
  }

 private:
  struct Own {
    Stretch memory;
    std::uint32_t generation = 0;
    std::uint64_t key = 0;
  };
  RegionTable& table_;
  RegionKeys keys_;
  std::vector<Own> own_;
  std::vector<std::uint32_t> unused_;
};

// An entry of another process of the host, as it is now.
inline Stretch find_shared(const RegionTable& table, std::uint64_t key, std::uint64_t offset,
                           std::uint64_t size) {
  const auto index = static_cast<std::uint32_t>(key);
  if (index >= RegionTable::count || key == 0) return {};
  const RegionEntry& entry = table.entries[index];
  if (entry.key.load(std::memory_order_acquire) != key) return {};
  const std::uint64_t address = entry.address.load(std::memory_order_relaxed);
  const std::uint64_t room = entry.size.load(std::memory_order_relaxed);
  if (offset > room || size > room - offset) return {};
  return {reinterpret_cast<std::byte*>(address + offset), static_cast<std::size_t>(size)};
}

}  // namespace weft::wire
