// SPDX-License-Identifier: Apache-2.0
// Reduce algorithms, except for Rabenseifner's.
#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

// The operand of a child in the tree comes after all that were taken before. For a non-commutative
// operator the tree must be rooted at rank 0; the result is then sent on.
mp::Task reduce_binomial(Team team, Reduce args) {
  Participant s(team);
  const int p = s.size();
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  const int top = args.reducer.commutative ? args.root : 0;
  const int place = (s.rank() - top + p) % p;
  const bool is_root = s.rank() == args.root;
  const bool leaf = (place & 1) != 0 || place + 1 >= p;
  const std::byte* const own = bytes(is_root && args.in_place ? args.receive : args.send);
  Buffer first = leaf ? nullptr : s.buffer(size);
  Buffer second = leaf || is_root || place + 2 >= p ? nullptr : s.buffer(size);
  Running sum(s, args.reducer, is_root && args.in_place ? Running::b : Running::own);
  sum.set(own, first.get(), is_root ? bytes(args.receive) : second.get());
  int mask = 1;
  for (; mask < p && (place & mask) == 0; mask *= 2) {
    if (place + mask >= p) continue;
    co_await s.finish(s.receive((place + mask + top) % p, sum.room(), size));
    sum.take(true, 0, args.count);
  }
  if (place != 0) {
    co_await s.finish(s.send((place - mask + top) % p, sum.value(), size));
  } else if (!is_root) {
    co_await s.finish(s.send(args.root, sum.value(), size));
  }
  if (!is_root) co_return s.error();
  if (top != args.root) {
    co_await s.finish(s.receive(top, bytes(args.receive), size));
  } else if (sum.place() != Running::b) {
    s.copy(bytes(args.receive), sum.value(), size);
  }
  co_return s.error();
}

// From the last rank to the first, so that each operand comes before the running result.
mp::Task reduce_linear(Team team, Reduce args) {
  Participant s(team);
  const int p = s.size();
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  if (s.rank() != args.root) {
    co_await s.finish(s.send(args.root, bytes(args.send), size));
    co_return s.error();
  }
  std::byte* const result = bytes(args.receive);
  Buffer mine = args.in_place ? s.buffer(size) : nullptr;
  const std::byte* own = bytes(args.send);
  if (args.in_place) {
    if (args.root != p - 1) s.copy(mine.get(), result, size);
    own = mine.get();
  }
  Buffer operand = s.buffer(size);
  if (args.root == p - 1) {
    if (!args.in_place) s.copy(result, own, size);
  } else {
    co_await s.finish(s.receive(p - 1, result, size));
  }
  for (int i = p - 2; i >= 0; --i) {
    if (i == args.root) {
      s.reduce(args.reducer, own, result, args.count);
      continue;
    }
    co_await s.finish(s.receive(i, operand.get(), size));
    s.reduce(args.reducer, operand.get(), result, args.count);
  }
  co_return s.error();
}

}  // namespace weft::coll
