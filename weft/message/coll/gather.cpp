// SPDX-License-Identifier: Apache-2.0
// Gather and scatter, with blocks of equal size along a tree, or of any size directly.
#include <algorithm>
#include <bit>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

// One rank's subtree of a binomial tree rooted at `root`: positions [place, place + count). At the
// root blocks are in the order of ranks, elsewhere in the order of positions.
struct Branch {
  Branch(int rank, int ranks, int root_rank) : p(ranks), root(root_rank) {
    place = (rank - root + p) % p;
    bit = place == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(p))) : place & -place;
    count = std::min(bit, p - place);
  }
  int rank_of(int at_place) const { return (at_place + root) % p; }
  int parent() const { return rank_of(place - bit); }
  // Size of a child's subtree.
  int below(int mask) const { return std::min(mask, p - place - mask); }
  // Whether the child's blocks are contiguous in the root's buffer.
  bool together(int mask) const { return rank_of(place + mask) + below(mask) <= p; }

  int p, root;
  int place = 0;
  int bit = 0;
  int count = 0;
};

}  // namespace

mp::Task gather_binomial(Team team, Exchange args) {
  Participant s(team);
  const Branch branch(s.rank(), s.size(), args.root);
  const std::size_t block = args.block;
  const bool is_root = branch.place == 0;
  const std::byte* own = bytes(args.send);
  Buffer kept = !is_root && branch.count > 1 ? s.buffer(scaled(branch.count, block)) : nullptr;
  if (is_root) {
    if (!args.in_place) s.copy(at(bytes(args.receive), scaled(s.rank(), block)), own, block);
  } else if (branch.count > 1) {
    s.copy(kept.get(), own, block);
    own = kept.get();
  }
  for (int mask = 1; mask < branch.bit && branch.place + mask < branch.p; mask *= 2) {
    const std::size_t size = scaled(branch.below(mask), block);
    const int child = branch.rank_of(branch.place + mask);
    if (!is_root) {
      co_await s.finish(s.receive(child, at(kept.get(), scaled(mask, block)), size));
    } else if (branch.together(mask)) {
      co_await s.finish(s.receive(child, at(bytes(args.receive), scaled(child, block)), size));
    } else {
      Buffer round = s.buffer(size);
      co_await s.finish(s.receive(child, round.get(), size));
      const std::size_t end = scaled(branch.p - child, block);
      s.copy(at(bytes(args.receive), scaled(child, block)), round.get(), end);
      s.copy(bytes(args.receive), at(round.get(), end), size - end);
    }
  }
  if (!is_root) {
    co_await s.finish(s.send(branch.parent(), own, scaled(branch.count, block)));
  }
  co_return s.error();
}

mp::Task scatter_binomial(Team team, Exchange args) {
  Participant s(team);
  const Branch branch(s.rank(), s.size(), args.root);
  const std::size_t block = args.block;
  const bool is_root = branch.place == 0;
  Buffer kept = !is_root && branch.count > 1 ? s.buffer(scaled(branch.count, block)) : nullptr;
  if (!is_root) {
    std::byte* const to = branch.count > 1 ? kept.get() : bytes(args.receive);
    co_await s.finish(s.receive(branch.parent(), to, scaled(branch.count, block)));
  }
  for (int mask = branch.bit / 2; mask > 0; mask /= 2) {
    if (branch.place + mask >= branch.p) continue;
    const std::size_t size = scaled(branch.below(mask), block);
    const int child = branch.rank_of(branch.place + mask);
    if (!is_root) {
      co_await s.finish(s.send(child, at(kept.get(), scaled(mask, block)), size));
    } else if (branch.together(mask)) {
      co_await s.finish(s.send(child, at(bytes(args.send), scaled(child, block)), size));
    } else {
      Buffer round = s.buffer(size);
      const std::size_t end = scaled(branch.p - child, block);
      s.copy(round.get(), at(bytes(args.send), scaled(child, block)), end);
      s.copy(at(round.get(), end), bytes(args.send), size - end);
      co_await s.finish(s.send(child, round.get(), size));
    }
  }
  if (!is_root && branch.count > 1) s.copy(bytes(args.receive), kept.get(), block);
  if (is_root && !args.in_place) {
    s.copy(bytes(args.receive), at(bytes(args.send), scaled(s.rank(), block)), block);
  }
  co_return s.error();
}

mp::Task gather_linear(Team team, Gatherv args) {
  Participant s(team);
  if (s.rank() != args.root) {
    if (args.send_size > 0) {
      co_await s.finish(s.send(args.root, bytes(args.send), args.send_size));
    }
    co_return s.error();
  }
  Window window;
  for (int i = 1; i < s.size(); ++i) {
    const int from = (args.root + i) % s.size();
    const Blocks::Block block = args.blocks[from];
    if (block.size == 0) continue;
    if (window.full()) co_await s.finish(window.pop());
    window.push(s.receive(from, at(bytes(args.receive), block.offset), block.size));
  }
  if (!args.in_place) {
    s.copy(at(bytes(args.receive), args.blocks[s.rank()].offset), bytes(args.send), args.send_size);
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

mp::Task scatter_linear(Team team, Scatterv args) {
  Participant s(team);
  if (s.rank() != args.root) {
    if (args.receive_size > 0) {
      co_await s.finish(s.receive(args.root, bytes(args.receive), args.receive_size));
    }
    co_return s.error();
  }
  Window window;
  for (int i = 1; i < s.size(); ++i) {
    const int to = (args.root + i) % s.size();
    const Blocks::Block block = args.blocks[to];
    if (block.size == 0) continue;
    if (window.full()) co_await s.finish(window.pop());
    window.push(s.send(to, at(bytes(args.send), block.offset), block.size));
  }
  if (!args.in_place) {
    s.copy(bytes(args.receive), at(bytes(args.send), args.blocks[s.rank()].offset),
           args.receive_size);
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

}  // namespace weft::coll
