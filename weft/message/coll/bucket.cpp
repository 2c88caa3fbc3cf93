// SPDX-License-Identifier: Apache-2.0
// Bucket algorithms: collectives on a torus, one dimension after the other.
#include <algorithm>
#include <utility>

#include <weft/message/coll/algorithms.hpp>
#include <weft/message/coll/torus.hpp>

namespace weft::coll {

namespace {

// Every rank has its own piece in place; afterwards all pieces. The last dimension comes first, so
// that the pieces of a ring are adjacent.
mp::Task gather_boxes(Participant& s, Pieces pieces, std::byte* data) {
  const Grid& grid = *s.team().grid;
  for (std::size_t i = grid.extents.size(); i > 0; --i) {
    const Ring ring = ring_of(grid, i - 1, s.rank());
    if (ring.extent == 1) continue;
    mp::Task gathered = ring_allgather(s, ring, pieces, data);
    s.note(co_await gathered);
  }
  co_return ok;
}

// Reduces and keeps this rank's piece of the result; `out` does not overlap `in`.
mp::Task reduce_boxes(Participant& s, Pieces pieces, RingSum sum) {
  const Grid& grid = *s.team().grid;
  Buffer held;
  for (std::size_t i = 0; i < grid.extents.size(); ++i) {
    const Ring ring = ring_of(grid, i, s.rank());
    if (ring.extent == 1) continue;
    RingSum part = sum;
    Buffer next;
    if (ring.stride > 1) {
      next = s.buffer(scaled(pieces.span(ring, ring.where).count, pieces.element));
      part.out = next.get();
    }
    mp::Task reduced = ring_reduce_scatter(s, ring, pieces, part);
    s.note(co_await reduced);
    held = std::move(next);
    sum.in = part.out;
  }
  co_return ok;
}

}  // namespace

mp::Task allgather_bucket(Team team, Exchange args) {
  Participant s(team);
  std::byte* const result = bytes(args.receive);
  if (!args.in_place) {
    s.copy(at(result, scaled(s.rank(), args.block)), bytes(args.send), args.block);
  }
  mp::Task gathered = gather_boxes(s, {s.size(), s.size(), args.block}, result);
  s.note(co_await gathered);
  co_return s.error();
}

// Pieces are scattered, the first dimension first, and gathered again.
mp::Task bcast_bucket(Team team, Bcast args) {
  Participant s(team);
  const Grid& grid = *team.grid;
  const Pieces pieces{static_cast<std::int64_t>(args.size), s.size(), 1};
  for (std::size_t i = 0; i < grid.extents.size(); ++i) {
    const Ring ring = ring_of(grid, i, s.rank());
    const Ring at_root = ring_of(grid, i, args.root);
    // Only rings whose later coordinates are the root's have data.
    if (ring.extent == 1 || ring.inside != at_root.inside) continue;
    mp::Task scattered = ring_scatter(s, ring, pieces, bytes(args.data), at_root.where);
    s.note(co_await scattered);
  }
  mp::Task gathered = gather_boxes(s, pieces, bytes(args.data));
  s.note(co_await gathered);
  co_return s.error();
}

mp::Task allreduce_bucket(Team team, Reduce args) {
  Participant s(team);
  const Pieces pieces{args.count, s.size(), args.reducer.element_size};
  std::byte* const result = bytes(args.receive);
  std::byte* const piece = at(result, scaled(pieces.edge(s.rank()), pieces.element));
  const std::size_t size =
      scaled(pieces.edge(s.rank() + 1) - pieces.edge(s.rank()), pieces.element);
  Buffer apart = args.in_place ? s.buffer(size) : nullptr;
  RingSum sum;
  sum.in = bytes(args.in_place ? args.receive : args.send);
  sum.out = args.in_place ? apart.get() : piece;
  sum.reducer = args.reducer;
  mp::Task reduced = reduce_boxes(s, pieces, sum);
  s.note(co_await reduced);
  if (args.in_place) s.copy(piece, apart.get(), size);
  mp::Task gathered = gather_boxes(s, pieces, result);
  s.note(co_await gathered);
  co_return s.error();
}

mp::Task reduce_scatter_bucket(Team team, ReduceScatter args) {
  Participant s(team);
  const auto count = static_cast<std::int64_t>(args.blocks[0].size);
  const Pieces pieces{count * s.size(), s.size(), args.reducer.element_size};
  const std::size_t size = scaled(count, pieces.element);
  Buffer apart = args.in_place ? s.buffer(size) : nullptr;
  RingSum sum;
  sum.in = bytes(args.in_place ? args.receive : args.send);
  sum.out = args.in_place ? apart.get() : bytes(args.receive);
  sum.reducer = args.reducer;
  mp::Task reduced = reduce_boxes(s, pieces, sum);
  s.note(co_await reduced);
  if (args.in_place) s.copy(bytes(args.receive), apart.get(), size);
  co_return s.error();
}

namespace {

// Blocks of one coordinate form runs, one for each combination of the earlier dimensions.
struct Runs {
  std::size_t run = 0;     // Bytes.
  std::size_t period = 0;  // Distance between runs.
  int count = 0;

  std::size_t size() const { return scaled(count, run); }
  void move(const Participant& s, std::byte* to, const std::byte* from, std::size_t first) const {
    for (int i = 0; i < count && s.carries(); ++i) {
      s.move(at(to, scaled(i, run)), at(from, first + scaled(i, period)), run);
    }
  }
  void spread(const Participant& s, std::byte* to, const std::byte* from, std::size_t first) const {
    for (int i = 0; i < count && s.carries(); ++i) {
      s.move(at(to, first + scaled(i, period)), at(from, scaled(i, run)), run);
    }
  }
};

// All blocks for a coordinate go to the ring's rank with that coordinate, and are stored at the
// coordinate that they came from.
mp::Task ring_alltoall(Participant& s, Ring ring, std::size_t block, std::byte* to,
                       const std::byte* from) {
  const std::size_t run = scaled(ring.stride, block);
  const Runs runs{run, scaled(ring.extent, run), s.size() / (ring.stride * ring.extent)};
  const auto first = [&](int coordinate) { return scaled(ring.wrap(coordinate), runs.run); };
  const bool packs = runs.count > 1;
  Buffer out_room = packs ? s.buffer(runs.size()) : nullptr;
  Buffer in_room = packs ? s.buffer(runs.size()) : nullptr;
  s.charge(runs.size());
  for (int i = 0; i < runs.count && s.carries(); ++i) {
    const std::size_t place = first(ring.where) + scaled(i, runs.period);
    s.move(at(to, place), at(from, place), runs.run);
  }
  for (int k = 1; k < ring.extent; ++k) {
    // Near partners first, alternating between both directions.
    const int distance = k % 2 == 1 ? (k + 1) / 2 : -k / 2;
    const std::size_t give = first(ring.where + distance);
    const std::size_t take = first(ring.where - distance);
    if (packs) {
      s.charge(runs.size());
      runs.move(s, out_room.get(), from, give);
    }
    mp::Request* const in = s.receive(ring.rank_at(ring.where - distance),
                                      packs ? in_room.get() : at(to, take), runs.size());
    mp::Request* const out = s.send(ring.rank_at(ring.where + distance),
                                    packs ? out_room.get() : at(from, give), runs.size());
    co_await s.finish(in);
    co_await s.finish(out);
    if (packs) {
      s.charge(runs.size());
      runs.spread(s, to, in_room.get(), take);
    }
  }
  co_return ok;
}

}  // namespace

mp::Task alltoall_bucket(Team team, Exchange args) {
  Participant s(team);
  const Grid& grid = *team.grid;
  const std::size_t total = scaled(s.size(), args.block);
  auto left = std::count_if(grid.extents.begin(), grid.extents.end(), [](int e) { return e > 1; });
  // Each dimension moves data from one buffer to the other; the last one into the result.
  Buffer other = left > 1 || args.in_place ? s.buffer(total) : nullptr;
  const std::byte* from = bytes(args.in_place ? args.receive : args.send);
  if (args.in_place && left % 2 == 1) {
    s.copy(other.get(), from, total);
    from = other.get();
  }
  for (std::size_t i = 0; i < grid.extents.size(); ++i) {
    const Ring ring = ring_of(grid, i, s.rank());
    if (ring.extent == 1) continue;
    std::byte* const to = --left % 2 == 0 ? bytes(args.receive) : other.get();
    mp::Task moved = ring_alltoall(s, ring, args.block, to, from);
    s.note(co_await moved);
    from = to;
  }
  co_return s.error();
}

}  // namespace weft::coll
