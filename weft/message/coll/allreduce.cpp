// SPDX-License-Identifier: Apache-2.0
// Allreduce algorithms, except for Rabenseifner's.
#include <algorithm>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

// A position always holds the result of consecutive ranks, so the order of operands is kept.
mp::Task allreduce_recursive_doubling(Team team, Reduce args) {
  Participant s(team);
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  const Fold fold(s.size());
  std::byte* const result = bytes(args.receive);
  const std::byte* const own = args.in_place ? result : bytes(args.send);
  if (!fold.stays(s.rank())) {
    co_await s.finish(s.send(s.rank() ^ 1, own, size));
    co_await s.finish(s.receive(s.rank() ^ 1, result, size));
    co_return s.error();
  }
  Buffer room = s.buffer(size);
  Running sum(s, args.reducer, args.in_place ? Running::b : Running::own);
  sum.set(own, room.get(), result);
  if (fold.paired(s.rank())) {
    co_await s.finish(s.receive(s.rank() ^ 1, sum.room(), size));
    sum.take(true, 0, args.count);
  }
  const int place = fold.place_of(s.rank());
  for (int mask = 1; mask < fold.power(); mask *= 2) {
    const int partner = fold.rank_of(place ^ mask);
    mp::Request* const in = s.receive(partner, sum.room(), size);
    mp::Request* const out = s.send(partner, sum.value(), size);
    co_await s.finish(in);
    co_await s.finish(out);
    sum.take(partner > s.rank(), 0, args.count);
  }
  if (fold.paired(s.rank())) co_await s.finish(s.send(s.rank() ^ 1, sum.value(), size));
  if (sum.place() != Running::b) s.copy(result, sum.value(), size);
  co_return s.error();
}

// Two times around the ring: first a piece collects the operands of all ranks, then all ranks
// collect the pieces.
mp::Task allreduce_ring(Team team, Reduce args) {
  Participant s(team);
  const int p = s.size();
  const std::size_t element = args.reducer.element_size;
  const int before = (s.rank() - 1 + p) % p;
  const int after = (s.rank() + 1) % p;
  std::byte* const result = bytes(args.receive);
  const std::byte* const own = args.in_place ? result : bytes(args.send);
  const Portions pieces(args.count, p);
  const auto offset = [&](int piece) { return scaled(pieces.start(piece), element); };
  const auto size = [&](int piece) { return scaled(pieces.size(piece), element); };
  Buffer room = args.in_place ? s.buffer(scaled(args.count / p + 1, element)) : nullptr;
  for (int step = 0; step + 1 < p; ++step) {
    const int give = (s.rank() - 1 - step + 2 * p) % p;
    const int take = (s.rank() - 2 - step + 2 * p) % p;
    const std::size_t take_at = offset(take);
    mp::Request* const in =
        s.receive(before, args.in_place ? room.get() : at(result, take_at), size(take));
    const std::byte* const from = step == 0 ? own : result;
    mp::Request* const out = s.send(after, at(from, offset(give)), size(give));
    co_await s.finish(in);
    co_await s.finish(out);
    s.reduce(args.reducer, args.in_place ? room.get() : at(own, take_at), at(result, take_at),
             pieces.size(take));
  }
  for (int step = 0; step + 1 < p; ++step) {
    const int give = (s.rank() - step + p) % p;
    const int take = (s.rank() - 1 - step + p) % p;
    mp::Request* const in = s.receive(before, at(result, offset(take)), size(take));
    mp::Request* const out = s.send(after, at(result, offset(give)), size(give));
    co_await s.finish(in);
    co_await s.finish(out);
  }
  co_return s.error();
}

mp::Task allreduce_reduce_bcast(Team team, Reduce args) {
  Participant s(team);
  Reduce up = args;
  up.root = 0;
  if (s.rank() != 0 && args.in_place) up.send = args.receive;
  mp::Task reduced = reduce(team.part_of_it(), up);
  s.note(co_await reduced);
  const Bcast down{args.receive, scaled(args.count, args.reducer.element_size), 0};
  mp::Task spread = bcast(team.part_of_it(), down);
  s.note(co_await spread);
  co_return s.error();
}

}  // namespace weft::coll
