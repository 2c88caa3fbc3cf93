// SPDX-License-Identifier: Apache-2.0
// Rabenseifner's reductions: halves are exchanged and reduced log2 p times, then gathered again.
#include <bit>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

// A rank's role in Rabenseifner's reduction.
struct Halving {
  Fold fold;
  int place = 0;
  int rounds = 0;
  Part part(std::int64_t count, int halvings) const { return halved(count, place, halvings); }
};

Halving halving(const Participant& s, int root) {
  const Fold fold(s.size(), root);
  return {fold, fold.place_of(s.rank()), std::countr_zero(static_cast<unsigned>(fold.power()))};
}

// Folds pairs, then exchanges halves: afterwards each position holds its part of the whole result.
// Neighbours come first, so that combined operands are adjacent. Folded ranks only contribute.
mp::Task reduce_halves(Participant& s, const Halving& h, Running& sum, const Reduce& args) {
  const std::size_t element = args.reducer.element_size;
  const std::size_t size = scaled(args.count, element);
  if (h.fold.paired(s.rank())) {
    const int partner = s.rank() ^ 1;
    if (!h.fold.stays(s.rank())) {
      co_await s.finish(s.send(partner, sum.value(), size));
      co_return ok;
    }
    co_await s.finish(s.receive(partner, sum.room(), size));
    sum.take(partner > s.rank(), 0, args.count);
  }
  for (int i = 0; i < h.rounds; ++i) {
    const int partner = h.fold.rank_of(h.place ^ (1 << i));
    const Part mine = h.part(args.count, i + 1);
    const Part theirs = halved(args.count, h.place ^ (1 << i), i + 1);
    mp::Request* const in = s.receive(partner, at(sum.room(), scaled(mine.first, element)),
                                      scaled(mine.count(), element));
    mp::Request* const out = s.send(partner, at(sum.value(), scaled(theirs.first, element)),
                                    scaled(theirs.count(), element));
    co_await s.finish(in);
    co_await s.finish(out);
    sum.take(partner > s.rank(), mine.first, mine.count());
  }
  co_return ok;
}

}  // namespace

mp::Task reduce_rabenseifner(Team team, Reduce args) {
  Participant s(team);
  const std::size_t element = args.reducer.element_size;
  const std::size_t size = scaled(args.count, element);
  const bool is_root = s.rank() == args.root;
  const Halving h = halving(s, args.root);
  const bool stays = h.fold.stays(s.rank());
  Buffer first = stays ? s.buffer(size) : nullptr;
  Buffer second = stays && !is_root ? s.buffer(size) : nullptr;
  Running sum(s, args.reducer, is_root && args.in_place ? Running::b : Running::own);
  sum.set(bytes(args.send), first.get(), is_root ? bytes(args.receive) : second.get());
  mp::Task halves = reduce_halves(s, h, sum, args);
  s.note(co_await halves);
  if (!stays) co_return s.error();
  std::byte* home = sum.place() == Running::a ? first.get() : second.get();
  if (is_root) {
    home = bytes(args.receive);
    const Part mine = h.part(args.count, h.rounds);
    if (sum.place() == Running::a) {
      s.copy(at(home, scaled(mine.first, element)), at(first.get(), scaled(mine.first, element)),
             scaled(mine.count(), element));
    }
  }
  // Back over the same pairs; the root's side receives.
  const int towards = h.fold.place_of(args.root);
  for (int i = h.rounds - 1; i >= 0; --i) {
    const int partner = h.place ^ (1 << i);
    const bool gives = ((h.place ^ towards) >> i & 1) != 0;
    const Part part = halved(args.count, gives ? h.place : partner, i + 1);
    std::byte* const place = at(home, scaled(part.first, element));
    const std::size_t part_size = scaled(part.count(), element);
    if (gives) {
      co_await s.finish(s.send(h.fold.rank_of(partner), place, part_size));
      break;
    }
    co_await s.finish(s.receive(h.fold.rank_of(partner), place, part_size));
  }
  co_return s.error();
}

mp::Task allreduce_rabenseifner(Team team, Reduce args) {
  Participant s(team);
  const std::size_t element = args.reducer.element_size;
  const std::size_t size = scaled(args.count, element);
  const Halving h = halving(s, -1);
  const bool stays = h.fold.stays(s.rank());
  std::byte* const result = bytes(args.receive);
  Buffer room = stays ? s.buffer(size) : nullptr;
  Running sum(s, args.reducer, args.in_place ? Running::b : Running::own);
  sum.set(bytes(args.send), room.get(), result);
  mp::Task halves = reduce_halves(s, h, sum, args);
  s.note(co_await halves);
  if (!stays) {
    co_await s.finish(s.receive(s.rank() ^ 1, result, size));
    co_return s.error();
  }
  const Part mine = h.part(args.count, h.rounds);
  if (sum.place() == Running::a) {
    s.copy(at(result, scaled(mine.first, element)), at(room.get(), scaled(mine.first, element)),
           scaled(mine.count(), element));
  }
  for (int i = h.rounds - 1; i >= 0; --i) {
    const int partner = h.place ^ (1 << i);
    const Part have = h.part(args.count, i + 1);
    const Part want = halved(args.count, partner, i + 1);
    mp::Request* const in =
        s.receive(h.fold.rank_of(partner), at(result, scaled(want.first, element)),
                  scaled(want.count(), element));
    mp::Request* const out =
        s.send(h.fold.rank_of(partner), at(result, scaled(have.first, element)),
               scaled(have.count(), element));
    co_await s.finish(in);
    co_await s.finish(out);
  }
  if (h.fold.paired(s.rank())) co_await s.finish(s.send(s.rank() ^ 1, result, size));
  co_return s.error();
}

}  // namespace weft::coll
