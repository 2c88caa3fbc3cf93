// SPDX-License-Identifier: Apache-2.0
// Messages under way, in a pool per worker. The id of a message contains its pool, so any worker
// may read it; only the pool's owner makes and frees records. Records never move, and readers need
// no lock, because a packet reaches another worker no sooner than the next window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/simulate/router/records.hpp>

namespace weft::detail {

class MessagePools {
 public:
  explicit MessagePools(int workers) : pools_(static_cast<std::size_t>(workers)) {
    for (Pool& pool : pools_) pool.chunks.resize(chunks_max);
  }

  static int owner(std::uint32_t id) { return static_cast<int>(id >> index_bits); }
  Message& operator[](std::uint32_t id) { return record(id); }
  const Message& operator[](std::uint32_t id) const { return record(id); }

  // no_message when 64 Mi messages of one worker are under way.
  std::uint32_t make(int worker) {
    Pool& pool = pools_[static_cast<std::size_t>(worker)];
    if (!pool.free.empty()) {
      const std::uint32_t id = pool.free.back();
      pool.free.pop_back();
      return id;
    }
    const std::uint32_t index = pool.made;
    if ((index >> chunk_bits) >= chunks_max) return no_message;
    std::unique_ptr<Message[]>& chunk = pool.chunks[index >> chunk_bits];
    if (chunk == nullptr) chunk = std::make_unique<Message[]>(chunk_mask + 1);
    ++pool.made;
    return (static_cast<std::uint32_t>(worker) << index_bits) | index;
  }
  void free(std::uint32_t id) { pools_[id >> index_bits].free.push_back(id); }

 private:
  static constexpr std::uint32_t index_bits = 26, index_mask = (1u << index_bits) - 1;
  static constexpr std::uint32_t chunk_bits = 10, chunk_mask = (1u << chunk_bits) - 1;
  static constexpr std::uint32_t chunks_max = 1u << (index_bits - chunk_bits);

  struct Pool {
    std::vector<std::unique_ptr<Message[]>> chunks;
    std::vector<std::uint32_t> free;
    std::uint32_t made = 0;
  };
  Message& record(std::uint32_t id) const {
    const std::uint32_t index = id & index_mask;
    return pools_[id >> index_bits].chunks[index >> chunk_bits][index & chunk_mask];
  }
  std::vector<Pool> pools_;
};

}  // namespace weft::detail
