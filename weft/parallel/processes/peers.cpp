// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>

namespace weft {
namespace {

constexpr PeerStream together = PeerStream::together;

// Blocks follow each other, each after its size.
void append_block(PeerBytes& to, const PeerBytes& block) {
  const std::uint64_t size = block.size();
  const std::size_t old = to.size();
  to.resize(old + sizeof size + block.size());
  std::memcpy(to.data() + old, &size, sizeof size);
  std::copy(block.begin(), block.end(),
            to.begin() + static_cast<std::ptrdiff_t>(old + sizeof size));
}

std::vector<PeerBytes> read_blocks(std::span<const std::byte> data) {
  std::vector<PeerBytes> blocks;
  while (!data.empty()) {
    std::uint64_t size = 0;
    WEFT_CHECK(data.size() >= sizeof size);
    std::memcpy(&size, data.data(), sizeof size);
    data = data.subspan(sizeof size);
    WEFT_CHECK(data.size() >= size);
    blocks.emplace_back(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
    data = data.subspan(size);
  }
  return blocks;
}

}  // namespace

// Each round doubles how many processes a number has heard of. Some are heard twice, which a
// minimum does not mind.
void Peers::least(std::span<std::int64_t> numbers) {
  const int others = count();
  for (int far = 1; far < others; far *= 2) {
    PeerBytes mine(numbers.size_bytes());
    std::memcpy(mine.data(), numbers.data(), numbers.size_bytes());
    send((self() + far) % others, together, std::move(mine));
    const PeerBytes theirs = receive((self() - far + others) % others, together);
    WEFT_CHECK(theirs.size() == numbers.size_bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::int64_t other = 0;
      std::memcpy(&other, theirs.data() + i * sizeof other, sizeof other);
      numbers[i] = std::min(numbers[i], other);
    }
  }
}

// Before each round this process knows of `far` processes: itself and those before it.
std::vector<PeerBytes> Peers::share(PeerBytes mine) {
  const int all = count();
  std::vector<PeerBytes> known;  // By distance behind this process.
  known.push_back(std::move(mine));
  for (int far = 1; far < all; far *= 2) {
    PeerBytes pack;
    for (int i = 0; i < std::min(far, all - far); ++i) {
      append_block(pack, known[static_cast<std::size_t>(i)]);
    }
    send((self() + far) % all, together, std::move(pack));
    for (PeerBytes& block : read_blocks(receive((self() - far + all) % all, together))) {
      known.push_back(std::move(block));
    }
  }
  WEFT_CHECK(known.size() == static_cast<std::size_t>(all));
  std::vector<PeerBytes> by_process(known.size());
  for (int i = 0; i < all; ++i) {
    const int process = (self() - i + all) % all;
    by_process[static_cast<std::size_t>(process)] = std::move(known[static_cast<std::size_t>(i)]);
  }
  return by_process;
}

// A binomial tree: before each round this process holds what the `far` processes from itself on
// gave, in order.
std::vector<PeerBytes> Peers::gather(PeerBytes mine) {
  if (count() == 1) {
    std::vector<PeerBytes> only;
    only.push_back(std::move(mine));
    return only;
  }
  PeerBytes held;
  append_block(held, mine);
  for (int far = 1; far < count(); far *= 2) {
    if (self() % (2 * far) != 0) {
      send(self() - far, together, std::move(held));
      return {};
    }
    if (self() + far < count()) {
      const PeerBytes more = receive(self() + far, together);
      held.insert(held.end(), more.begin(), more.end());
    }
  }
  std::vector<PeerBytes> blocks = read_blocks(held);
  WEFT_CHECK(blocks.size() == static_cast<std::size_t>(count()));
  return blocks;
}

PeerBytes Peers::spread(PeerBytes mine) {
  int far = 1;  // The lowest bit of this process's number: how far its part of the tree reaches.
  while (far < count() && self() % (2 * far) == 0) far *= 2;
  if (self() != 0) mine = receive(self() - far, together);
  for (far /= 2; far >= 1; far /= 2) {
    if (self() + far < count()) send(self() + far, together, mine);
  }
  return mine;
}

}  // namespace weft
