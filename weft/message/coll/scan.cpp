// SPDX-License-Identifier: Apache-2.0
// Scan algorithms, inclusive and exclusive.
#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

// `whole` is the result of all ranks that this rank has data of, which are consecutive; `result` is
// that of the ranks up to (or below) itself.
mp::Task scan_recursive_doubling(Team team, Reduce args, bool exclusive) {
  Participant s(team);
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  std::byte* const result = bytes(args.receive);
  Buffer first = s.buffer(size);
  Buffer second = s.buffer(size);
  Running whole(s, args.reducer, args.in_place ? Running::b : Running::own);
  whole.set(bytes(args.send), first.get(), second.get());
  if (args.in_place) {
    s.copy(second.get(), result, size);
  } else if (!exclusive) {
    s.copy(result, bytes(args.send), size);
  }
  bool empty = exclusive;
  for (int mask = 1; mask < s.size(); mask *= 2) {
    const int partner = s.rank() ^ mask;
    if (partner >= s.size()) continue;
    mp::Request* const in = s.receive(partner, whole.room(), size);
    mp::Request* const out = s.send(partner, whole.value(), size);
    co_await s.finish(in);
    co_await s.finish(out);
    if (partner < s.rank()) {
      if (empty) {
        s.copy(result, whole.room(), size);
      } else {
        s.reduce(args.reducer, whole.room(), result, args.count);
      }
      empty = false;
    }
    whole.take(partner > s.rank(), 0, args.count);
  }
  co_return s.error();
}

mp::Task scan_linear(Team team, Reduce args, bool exclusive) {
  Participant s(team);
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  const bool first = s.rank() == 0;
  const bool last = s.rank() == s.size() - 1;
  std::byte* const result = bytes(args.receive);
  const std::byte* const own = args.in_place ? result : bytes(args.send);
  // What arrives from below and what is sent on; for an exclusive scan the result is what arrives.
  Buffer room = s.buffer(size);
  if (!exclusive) {
    if (!args.in_place) s.copy(result, own, size);
    if (!first) {
      co_await s.finish(s.receive(s.rank() - 1, room.get(), size));
      s.reduce(args.reducer, room.get(), result, args.count);
    }
    if (!last) co_await s.finish(s.send(s.rank() + 1, result, size));
    co_return s.error();
  }
  if (first) {
    if (!last) co_await s.finish(s.send(1, own, size));
    co_return s.error();
  }
  if (!last) s.copy(room.get(), own, size);
  co_await s.finish(s.receive(s.rank() - 1, result, size));
  if (!last) {
    s.reduce(args.reducer, result, room.get(), args.count);
    co_await s.finish(s.send(s.rank() + 1, room.get(), size));
  }
  co_return s.error();
}

}  // namespace weft::coll
