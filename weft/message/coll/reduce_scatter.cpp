// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter algorithms.
#include <algorithm>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

struct Element {
  Blocks blocks;  // In elements.
  std::size_t size = 1;

  std::size_t offset(int rank) const { return scaled(blocks[rank].offset, size); }
  std::int64_t count(int rank) const { return static_cast<std::int64_t>(blocks[rank].size); }
  std::size_t bytes_of(int rank) const { return blocks[rank].size * size; }
  std::int64_t end(int rank) const { return blocks[rank].offset + count(rank); }
  static Blocks::Block in_bytes(const void* arg, int rank) {
    const auto* self = static_cast<const Element*>(arg);
    return {static_cast<std::ptrdiff_t>(self->offset(rank)), self->bytes_of(rank)};
  }
};

}  // namespace

// Halves the positions, the farthest partner first, so that the own blocks remain. Combined
// operands are not adjacent, so the operator must be commutative.
mp::Task reduce_scatter_halving(Team team, ReduceScatter args) {
  Participant s(team);
  const Element e{args.blocks, args.reducer.element_size};
  const std::int64_t total = e.end(s.size() - 1);
  const Fold fold(s.size());
  const std::byte* const own = bytes(args.in_place ? args.receive : args.send);
  std::byte* const result = bytes(args.receive);
  const int neighbour = s.rank() ^ 1;
  if (!fold.stays(s.rank())) {
    co_await s.finish(s.send(neighbour, own, scaled(total, e.size)));
    if (e.count(s.rank()) > 0) {
      co_await s.finish(s.receive(neighbour, result, e.bytes_of(s.rank())));
    }
    co_return s.error();
  }
  Buffer first = s.buffer(scaled(total, e.size));
  Buffer second = s.buffer(scaled(total, e.size));
  Running sum(s, args.reducer, Running::own);
  sum.set(own, first.get(), second.get());
  if (fold.paired(s.rank())) {
    co_await s.finish(s.receive(neighbour, sum.room(), scaled(total, e.size)));
    sum.take(true, 0, total);
  }
  const int place = fold.place_of(s.rank());
  for (int mask = fold.power() / 2; mask > 0; mask /= 2) {
    const int partner = fold.rank_of(place ^ mask);
    const int mine = place & ~(mask - 1);  // Positions [mine, mine + mask).
    const int theirs = mine ^ mask;
    const std::int64_t take = e.blocks[fold.first_of(mine)].offset;
    const std::int64_t take_end = e.end(fold.first_of(mine + mask) - 1);
    const std::int64_t give = e.blocks[fold.first_of(theirs)].offset;
    const std::int64_t give_end = e.end(fold.first_of(theirs + mask) - 1);
    mp::Request* in = nullptr;
    if (take_end > take) {
      in =
          s.receive(partner, at(sum.room(), scaled(take, e.size)), scaled(take_end - take, e.size));
    }
    if (give_end > give) {
      co_await s.finish(
          s.send(partner, at(sum.value(), scaled(give, e.size)), scaled(give_end - give, e.size)));
    }
    if (in != nullptr) co_await s.finish(in);
    sum.take(true, take, take_end - take);
  }
  s.copy(result, at(sum.value(), e.offset(s.rank())), e.bytes_of(s.rank()));
  if (fold.paired(s.rank()) && e.count(neighbour) > 0) {
    co_await s.finish(
        s.send(neighbour, at(sum.value(), e.offset(neighbour)), e.bytes_of(neighbour)));
  }
  co_return s.error();
}

// Operands come from lower ranks first, then from the highest downwards: two running results keep
// the order.
mp::Task reduce_scatter_pairwise(Team team, ReduceScatter args) {
  Participant s(team);
  const int p = s.size();
  const int rank = s.rank();
  const Element e{args.blocks, args.reducer.element_size};
  const std::byte* const own = bytes(args.in_place ? args.receive : args.send);
  const std::size_t size = e.bytes_of(rank);
  const std::int64_t count = e.count(rank);
  Buffer apart = args.in_place ? s.buffer(size) : nullptr;
  std::byte* const low = args.in_place ? apart.get() : bytes(args.receive);
  s.copy(low, at(own, e.offset(rank)), size);
  const bool ordered = !args.reducer.commutative;
  Buffer room = s.buffer(size);
  Buffer high = ordered ? s.buffer(size) : nullptr;
  for (int i = 1; i < p; ++i) {
    const int to = (rank + i) % p;
    const bool starts_high = ordered && i == rank + 1;
    mp::Request* in = nullptr;
    if (size > 0) in = s.receive((rank - i + p) % p, starts_high ? high.get() : room.get(), size);
    if (e.count(to) > 0) co_await s.finish(s.send(to, at(own, e.offset(to)), e.bytes_of(to)));
    if (in != nullptr) co_await s.finish(in);
    if (!starts_high) {
      s.reduce(args.reducer, room.get(), ordered && i > rank ? high.get() : low, count);
    }
  }
  const bool has_high = ordered && rank < p - 1;
  if (has_high) s.reduce(args.reducer, low, high.get(), count);
  if (has_high || args.in_place) s.copy(bytes(args.receive), has_high ? high.get() : low, size);
  co_return s.error();
}

// The block of rank b starts at rank b + 1 and collects operands around the ring.
mp::Task reduce_scatter_ring(Team team, ReduceScatter args) {
  Participant s(team);
  const int p = s.size();
  const int rank = s.rank();
  const Element e{args.blocks, args.reducer.element_size};
  const std::byte* const own = bytes(args.in_place ? args.receive : args.send);
  std::size_t most = 0;
  for (int i = 0; i < p; ++i) most = std::max(most, e.bytes_of(i));
  Buffer even = s.buffer(most);
  Buffer odd = s.buffer(most);
  for (int step = 0; step + 1 < p; ++step) {
    const int give = (rank - 1 - step + 2 * p) % p;
    const int take = (rank - 2 - step + 2 * p) % p;
    const bool last = step + 2 == p;
    std::byte* const free = step % 2 == 0 ? even.get() : odd.get();
    std::byte* const held = step % 2 == 0 ? odd.get() : even.get();
    std::byte* const to = last && !args.in_place ? bytes(args.receive) : free;
    mp::Request* in = nullptr;
    if (e.count(take) > 0) in = s.receive((rank - 1 + p) % p, to, e.bytes_of(take));
    if (e.count(give) > 0) {
      const std::byte* const from = step == 0 ? at(own, e.offset(give)) : held;
      co_await s.finish(s.send((rank + 1) % p, from, e.bytes_of(give)));
    }
    if (in != nullptr) co_await s.finish(in);
    s.reduce(args.reducer, at(own, e.offset(take)), to, e.count(take));
    if (last && args.in_place) s.copy(bytes(args.receive), to, e.bytes_of(take));
  }
  co_return s.error();
}

mp::Task reduce_scatter_at_root(Team team, ReduceScatter args) {
  Participant s(team);
  const Element e{args.blocks, args.reducer.element_size};
  const std::int64_t total = e.end(s.size() - 1);
  Buffer whole = s.rank() == 0 ? s.buffer(scaled(total, e.size)) : nullptr;
  Reduce up;
  up.send = args.in_place ? args.receive : args.send;
  up.receive = whole.get();
  up.count = total;
  up.reducer = args.reducer;
  mp::Task reduced = reduce(team.part_of_it(), up);
  s.note(co_await reduced);
  Scatterv down;
  down.send = whole.get();
  down.blocks = Blocks::described(&Element::in_bytes, &e);
  down.receive = args.receive;
  down.receive_size = e.bytes_of(s.rank());
  mp::Task scattered = scatter_linear(team, down);
  s.note(co_await scattered);
  co_return s.error();
}

}  // namespace weft::coll
