// SPDX-License-Identifier: Apache-2.0
// All-to-all algorithms, except for those over groups and on a torus.
#include <algorithm>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

// How many of the numbers below `end` have this bit set.
int with_bit(int end, int bit) {
  return end / (2 * bit) * bit + std::max(0, end % (2 * bit) - bit);
}

}  // namespace

// Block i of a rank must move i ranks onwards: in round k all blocks with bit k in i move 2^k. So a
// block is forwarded by as many ranks as its distance has bits set.
mp::Task alltoall_bruck(Team team, Exchange args) {
  Participant s(team);
  const int p = s.size();
  const int rank = s.rank();
  const std::size_t block = args.block;
  const std::size_t total = scaled(p, block);
  const std::byte* const input = bytes(args.in_place ? args.receive : args.send);
  Buffer moving = s.buffer(total);
  Buffer out_room = s.buffer(scaled(with_bit(p, 1), block));
  Buffer in_room = s.buffer(scaled(with_bit(p, 1), block));
  s.charge(total);
  const std::size_t head = scaled(rank, block);
  s.move(moving.get(), at(input, head), total - head);
  s.move(at(moving.get(), total - head), input, head);
  for (int bit = 1; bit < p; bit *= 2) {
    const std::size_t size = scaled(with_bit(p, bit), block);
    // Blocks with the bit set form runs of length `bit`.
    s.charge(size);
    std::size_t filled = 0;
    for (int i = bit; i < p && s.carries(); i += 2 * bit) {
      const std::size_t run = scaled(std::min(bit, p - i), block);
      s.move(at(out_room.get(), filled), at(moving.get(), scaled(i, block)), run);
      filled += run;
    }
    mp::Request* const in = s.receive((rank - bit + p) % p, in_room.get(), size);
    mp::Request* const out = s.send((rank + bit) % p, out_room.get(), size);
    co_await s.finish(in);
    co_await s.finish(out);
    s.charge(size);
    filled = 0;
    for (int i = bit; i < p && s.carries(); i += 2 * bit) {
      const std::size_t run = scaled(std::min(bit, p - i), block);
      s.move(at(moving.get(), scaled(i, block)), at(in_room.get(), filled), run);
      filled += run;
    }
  }
  // Block i came from the rank i positions before.
  s.charge(total);
  for (int i = 0; i < p && s.carries(); ++i) {
    const int from = (rank - i + p) % p;
    s.move(at(bytes(args.receive), scaled(from, block)), at(moving.get(), scaled(i, block)), block);
  }
  co_return s.error();
}

namespace {

// In place, each block is copied out before the block that replaces it arrives; pairs exchange in
// the same step.
mp::Task alltoall_in_place(Team team, Alltoallv args) {
  Participant s(team);
  const int p = s.size();
  std::byte* const data = bytes(args.receive);
  Buffer leaving;
  std::size_t room = 0;
  for (int step = 0; step < p; ++step) {
    const int partner = (step - s.rank() + p) % p;
    if (partner == s.rank()) continue;
    const Blocks::Block block = args.receive_blocks[partner];
    if (block.size == 0) continue;
    if (block.size > room) {
      leaving = s.buffer(block.size);
      room = block.size;
    }
    s.copy(leaving.get(), at(data, block.offset), block.size);
    mp::Request* const in = s.receive(partner, at(data, block.offset), block.size);
    mp::Request* const out = s.send(partner, leaving.get(), block.size);
    co_await s.finish(in);
    co_await s.finish(out);
  }
  co_return s.error();
}

}  // namespace

void copy_own_block(Participant& s, const Alltoallv& args) {
  const Blocks::Block from = args.send_blocks[s.rank()];
  const Blocks::Block to = args.receive_blocks[s.rank()];
  s.copy(at(bytes(args.receive), to.offset), at(bytes(args.send), from.offset),
         std::min(from.size, to.size));
}

namespace {

mp::Task pairwise(Team team, Alltoallv args) {
  Participant s(team);
  const int p = s.size();
  copy_own_block(s, args);
  for (int i = 1; i < p; ++i) {
    const int from = (s.rank() - i + p) % p;
    const int to = (s.rank() + i) % p;
    const Blocks::Block take = args.receive_blocks[from];
    const Blocks::Block give = args.send_blocks[to];
    mp::Request* in = nullptr;
    if (take.size > 0) in = s.receive(from, at(bytes(args.receive), take.offset), take.size);
    if (give.size > 0) {
      co_await s.finish(s.send(to, at(bytes(args.send), give.offset), give.size));
    }
    if (in != nullptr) co_await s.finish(in);
  }
  co_return s.error();
}

mp::Task spread(Team team, Alltoallv args) {
  Participant s(team);
  const int p = s.size();
  copy_own_block(s, args);
  Window receives;
  Window sends;
  for (int i = 1; i < p; ++i) {
    const int from = (s.rank() - i + p) % p;
    const int to = (s.rank() + i) % p;
    const Blocks::Block take = args.receive_blocks[from];
    const Blocks::Block give = args.send_blocks[to];
    if (take.size > 0) {
      if (receives.full()) co_await s.finish(receives.pop());
      receives.push(s.receive(from, at(bytes(args.receive), take.offset), take.size));
    }
    if (give.size > 0) {
      if (sends.full()) co_await s.finish(sends.pop());
      sends.push(s.send(to, at(bytes(args.send), give.offset), give.size));
    }
  }
  while (!receives.empty()) co_await s.finish(receives.pop());
  while (!sends.empty()) co_await s.finish(sends.pop());
  co_return s.error();
}

}  // namespace

mp::Task alltoall_pairwise(Team team, Alltoallv args) {
  return args.in_place ? alltoall_in_place(team, args) : pairwise(team, args);
}

mp::Task alltoall_linear(Team team, Alltoallv args) {
  return args.in_place ? alltoall_in_place(team, args) : spread(team, args);
}

}  // namespace weft::coll
