// SPDX-License-Identifier: Apache-2.0
// Steps along the rings of a grid, for the bucket algorithms: messages go to neighbours only, in
// both directions at once, so that no two share a link if ranks are placed as the grid says.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/message/coll/participant.hpp>
#include <weft/message/coll/team.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::coll {

// The ring of one rank in one dimension.
struct Ring {
  int extent = 1;
  int stride = 1;  // In ranks, from one coordinate to the next.
  int where = 0;   // This rank's coordinate.
  int lead = 0;    // The rank with zeros in this and all later dimensions.
  int inside = 0;  // This rank's position among those with its coordinate.

  int forward() const { return extent / 2; }         // Steps in one direction,
  int backward() const { return (extent - 1) / 2; }  // and in the other.
  int wrap(int coordinate) const { return (coordinate % extent + extent) % extent; }
  int rank_at(int coordinate) const { return lead + wrap(coordinate) * stride + inside; }
};
Ring ring_of(const Grid& grid, std::size_t dimension, int rank);

// A vector divided into a piece for each rank; a coordinate of a ring stands for the pieces of all
// ranks that have it. In elements.
struct Pieces {
  std::int64_t count = 0;
  int ranks = 1;
  std::size_t element = 1;

  struct Span {
    std::int64_t first = 0, count = 0;
  };
  std::int64_t edge(int rank) const { return cut(count, ranks, rank); }
  Span span(const Ring& ring, int coordinate) const {
    const int from = ring.lead + ring.wrap(coordinate) * ring.stride;
    return {edge(from), edge(from + ring.stride) - edge(from)};
  }
};

// Every rank of the ring has the pieces of its coordinate; afterwards all pieces. `data` is the
// whole vector.
mp::Task ring_allgather(Participant& s, Ring ring, Pieces pieces, std::byte* data);
// The rank with coordinate `from` has all pieces of the ring; afterwards each rank has its own.
mp::Task ring_scatter(Participant& s, Ring ring, Pieces pieces, std::byte* data, int from);
// `in` holds the ring's part of the vector; afterwards `out`, which does not overlap it, holds the
// own pieces of the result.
struct RingSum {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Reducer reducer;
};
mp::Task ring_reduce_scatter(Participant& s, Ring ring, Pieces pieces, RingSum sum);

}  // namespace weft::coll
