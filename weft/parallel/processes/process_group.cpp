// SPDX-License-Identifier: Apache-2.0
#include "process_group.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>

namespace weft {
namespace {

constexpr PeerStream collectives = PeerStream::collectives;

// Appends the block's size and its bytes.
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

// After each round a number covers twice as many processes. Some are counted twice, which does not
// change a minimum.
void ProcessGroup::all_reduce_min(std::span<std::int64_t> numbers) {
  const int others = count();
  for (int far = 1; far < others; far *= 2) {
    PeerBytes mine(numbers.size_bytes());
    std::memcpy(mine.data(), numbers.data(), numbers.size_bytes());
    send((self() + far) % others, collectives, std::move(mine));
    const PeerBytes theirs = receive((self() - far + others) % others, collectives);
    WEFT_CHECK(theirs.size() == numbers.size_bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::int64_t other = 0;
      std::memcpy(&other, theirs.data() + i * sizeof other, sizeof other);
      numbers[i] = std::min(numbers[i], other);
    }
  }
}

// Before each round this process has the blocks of `far` processes: its own and its predecessors'.
std::vector<PeerBytes> ProcessGroup::all_gather(PeerBytes mine) {
  const int all = count();
  std::vector<PeerBytes> known;  // Indexed by distance to the predecessor.
  known.push_back(std::move(mine));
  for (int far = 1; far < all; far *= 2) {
    PeerBytes pack;
    for (int i = 0; i < std::min(far, all - far); ++i) {
      append_block(pack, known[static_cast<std::size_t>(i)]);
    }
    send((self() + far) % all, collectives, std::move(pack));
    for (PeerBytes& block : read_blocks(receive((self() - far + all) % all, collectives))) {
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

// A binomial tree: before each round this process holds the blocks of `far` processes from itself
// on, in order.
std::vector<PeerBytes> ProcessGroup::gather(PeerBytes mine) {
  if (count() == 1) {
    std::vector<PeerBytes> only;
    only.push_back(std::move(mine));
    return only;
  }
  PeerBytes held;
  append_block(held, mine);
  for (int far = 1; far < count(); far *= 2) {
    if (self() % (2 * far) != 0) {
      send(self() - far, collectives, std::move(held));
      return {};
    }
    if (self() + far < count()) {
      const PeerBytes more = receive(self() + far, collectives);
      held.insert(held.end(), more.begin(), more.end());
    }
  }
  std::vector<PeerBytes> blocks = read_blocks(held);
  WEFT_CHECK(blocks.size() == static_cast<std::size_t>(count()));
  return blocks;
}

PeerBytes ProcessGroup::broadcast(PeerBytes mine) {
  int far = 1;  // Lowest set bit of this process's number: the size of its subtree.
  while (far < count() && self() % (2 * far) == 0) far *= 2;
  if (self() != 0) mine = receive(self() - far, collectives);
  for (far /= 2; far >= 1; far /= 2) {
    if (self() + far < count()) send(self() + far, collectives, mine);
  }
  return mine;
}

}  // namespace weft
