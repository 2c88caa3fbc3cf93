// SPDX-License-Identifier: Apache-2.0
// Allgather algorithms.
#include <algorithm>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

void copy_own_block(Participant& s, const Gatherv& args) {
  if (args.in_place) return;
  const Blocks::Block own = args.blocks[s.rank()];
  s.copy(at(bytes(args.receive), own.offset), bytes(args.send), std::min(own.size, args.send_size));
}

// Bytes of the `count` blocks from `first` on, cyclically.
std::size_t sum(const Blocks& blocks, int ranks, int first, int count) {
  if (blocks.find == nullptr) return scaled(count, blocks.size);
  std::size_t total = 0;
  for (int i = 0; i < count; ++i) total += blocks[(first + i) % ranks].size;
  return total;
}

}  // namespace

// After each round a rank holds twice as many of the blocks that follow its own; a temporary buffer
// holds them in that order until the end.
mp::Task allgather_bruck(Team team, Gatherv args) {
  Participant s(team);
  const int p = s.size();
  const int rank = s.rank();
  const std::size_t total = sum(args.blocks, p, 0, p);
  Buffer rotated = s.buffer(total);
  const Blocks::Block own = args.blocks[rank];
  const std::byte* const from =
      args.in_place ? at(bytes(args.receive), own.offset) : bytes(args.send);
  s.copy(rotated.get(), from, own.size);
  std::size_t held = own.size;
  for (int have = 1; have < p; have *= 2) {
    const int count = std::min(have, p - have);
    const std::size_t in_size = sum(args.blocks, p, (rank + have) % p, count);
    const std::size_t out_size = count == have ? held : sum(args.blocks, p, rank, count);
    mp::Request* in = nullptr;
    if (in_size > 0) in = s.receive((rank + have) % p, at(rotated.get(), held), in_size);
    if (out_size > 0) {
      co_await s.finish(s.send((rank - have + p) % p, rotated.get(), out_size));
    }
    if (in != nullptr) co_await s.finish(in);
    held += in_size;
  }
  s.charge(total);
  std::size_t offset = 0;
  for (int i = 0; i < p && s.carries(); ++i) {
    const Blocks::Block block = args.blocks[(rank + i) % p];
    s.move(at(bytes(args.receive), block.offset), at(rotated.get(), offset), block.size);
    offset += block.size;
  }
  co_return s.error();
}

mp::Task allgather_ring(Team team, Gatherv args) {
  Participant s(team);
  const int p = s.size();
  std::byte* const result = bytes(args.receive);
  copy_own_block(s, args);
  for (int step = 0; step + 1 < p; ++step) {
    const Blocks::Block give = args.blocks[(s.rank() - step + p) % p];
    const Blocks::Block take = args.blocks[(s.rank() - step - 1 + p) % p];
    mp::Request* in = nullptr;
    if (take.size > 0) in = s.receive((s.rank() - 1 + p) % p, at(result, take.offset), take.size);
    if (give.size > 0) {
      co_await s.finish(s.send((s.rank() + 1) % p, at(result, give.offset), give.size));
    }
    if (in != nullptr) co_await s.finish(in);
  }
  co_return s.error();
}

mp::Task allgather_linear(Team team, Gatherv args) {
  Participant s(team);
  const int p = s.size();
  std::byte* const result = bytes(args.receive);
  copy_own_block(s, args);
  const Blocks::Block own = args.blocks[s.rank()];
  Window receives;
  Window sends;
  for (int i = 1; i < p; ++i) {
    const int from = (s.rank() - i + p) % p;
    const Blocks::Block block = args.blocks[from];
    if (block.size > 0) {
      if (receives.full()) co_await s.finish(receives.pop());
      receives.push(s.receive(from, at(result, block.offset), block.size));
    }
    if (own.size > 0) {
      if (sends.full()) co_await s.finish(sends.pop());
      sends.push(s.send((s.rank() + i) % p, at(result, own.offset), own.size));
    }
  }
  while (!receives.empty()) co_await s.finish(receives.pop());
  while (!sends.empty()) co_await s.finish(sends.pop());
  co_return s.error();
}

// Ranks that take part hold the blocks of consecutive ranks; folded ranks get everything at the
// end.
mp::Task allgather_recursive_doubling(Team team, Exchange args) {
  Participant s(team);
  const std::size_t block = args.block;
  const Fold fold(s.size());
  std::byte* const result = bytes(args.receive);
  std::byte* const own = at(result, scaled(s.rank(), block));
  if (!args.in_place) s.copy(own, bytes(args.send), block);
  if (!fold.stays(s.rank())) {
    co_await s.finish(s.send(s.rank() ^ 1, own, block));
    co_await s.finish(s.receive(s.rank() ^ 1, result, scaled(s.size(), block)));
    co_return s.error();
  }
  if (fold.paired(s.rank())) {
    co_await s.finish(s.receive(s.rank() ^ 1, at(result, scaled(s.rank() ^ 1, block)), block));
  }
  const int place = fold.place_of(s.rank());
  for (int mask = 1; mask < fold.power(); mask *= 2) {
    const int have = place & ~(mask - 1);  // Positions [have, have + mask).
    const int want = have ^ mask;
    const int have_at = fold.first_of(have);
    const int want_at = fold.first_of(want);
    const int partner = fold.rank_of(place ^ mask);
    mp::Request* const in = s.receive(partner, at(result, scaled(want_at, block)),
                                      scaled(fold.first_of(want + mask) - want_at, block));
    mp::Request* const out = s.send(partner, at(result, scaled(have_at, block)),
                                    scaled(fold.first_of(have + mask) - have_at, block));
    co_await s.finish(in);
    co_await s.finish(out);
  }
  if (fold.paired(s.rank())) {
    co_await s.finish(s.send(s.rank() ^ 1, result, scaled(s.size(), block)));
  }
  co_return s.error();
}

}  // namespace weft::coll
