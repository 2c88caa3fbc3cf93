// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <weft/base/check.hpp>
#include <weft/message/coll/torus.hpp>

namespace weft::coll {

Ring ring_of(const Grid& grid, std::size_t dimension, int rank) {
  Ring ring;
  ring.extent = grid.extents[dimension];
  for (std::size_t i = dimension + 1; i < grid.extents.size(); ++i) ring.stride *= grid.extents[i];
  ring.where = rank / ring.stride % ring.extent;
  ring.inside = rank % ring.stride;
  ring.lead = rank - rank % (ring.stride * ring.extent);
  return ring;
}

mp::Task ring_allgather(Participant& s, Ring ring, Pieces pieces, std::byte* data) {
  const int after = ring.rank_at(ring.where + 1);
  const int before = ring.rank_at(ring.where - 1);
  const auto place = [&](Pieces::Span span) {
    return at(data, scaled(span.first, pieces.element));
  };
  const auto size = [&](Pieces::Span span) { return scaled(span.count, pieces.element); };
  for (int k = 0; k < ring.forward(); ++k) {
    std::array<mp::Request*, 4> open = {};
    const Pieces::Span take_up = pieces.span(ring, ring.where - 1 - k);
    const Pieces::Span give_up = pieces.span(ring, ring.where - k);
    if (take_up.count > 0) open[0] = s.receive(before, place(take_up), size(take_up));
    if (give_up.count > 0) open[2] = s.send(after, place(give_up), size(give_up));
    if (k < ring.backward()) {
      const Pieces::Span take = pieces.span(ring, ring.where + 1 + k);
      const Pieces::Span give = pieces.span(ring, ring.where + k);
      if (take.count > 0) open[1] = s.receive(after, place(take), size(take), Lane::backward);
      if (give.count > 0) open[3] = s.send(before, place(give), size(give), Lane::backward);
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] != nullptr) co_await s.finish(open[i]);
    }
  }
  co_return ok;
}

// The farthest piece goes first, so that pieces travel in a pipeline.
mp::Task ring_scatter(Participant& s, Ring ring, Pieces pieces, std::byte* data, int from) {
  const int distance = ring.wrap(ring.where - from);
  Window window;
  for (int way = 0; way < 2; ++way) {
    const int sign = way == 0 ? 1 : -1;
    const int steps = way == 0 ? ring.forward() : ring.backward();
    const int mine = distance == 0 ? 0 : way == 0 ? distance : ring.extent - distance;
    if (mine > steps) continue;  // Reached from the other direction.
    const Lane lane = way == 0 ? Lane::forward : Lane::backward;
    for (int k = steps; k >= std::max(mine, 1); --k) {
      const Pieces::Span span = pieces.span(ring, from + sign * k);
      if (span.count == 0) continue;
      std::byte* const place = at(data, scaled(span.first, pieces.element));
      const std::size_t size = scaled(span.count, pieces.element);
      if (mine > 0) {
        co_await s.finish(s.receive(ring.rank_at(ring.where - sign), place, size, lane));
      }
      if (k == mine) continue;
      if (window.full()) co_await s.finish(window.pop());
      window.push(s.send(ring.rank_at(ring.where + sign), place, size, lane));
    }
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return ok;
}

namespace {

// One of the two directions of a ring reduction: partial results travel to their owners.
class Stream {
 public:
  Stream(Participant& s, const Ring& ring, const Pieces& pieces, int sign)
      : s_(s), ring_(ring), pieces_(pieces), sign_(sign) {
    steps_ = sign > 0 ? ring.forward() : ring.backward();
    std::int64_t most = 0;
    for (int i = 0; i < ring.extent; ++i) most = std::max(most, pieces.span(ring, i).count);
    if (steps_ > 0) even_ = s.buffer(scaled(most, pieces.element));
    if (steps_ > 1) odd_ = s.buffer(scaled(most, pieces.element));
  }
  int steps() const { return steps_; }
  // Partial results that arrived in this step; in the last step those of the own pieces.
  std::byte* held(int step) const { return step % 2 == 0 ? even_.get() : odd_.get(); }
  Pieces::Span taken(int step) const {
    return pieces_.span(ring_, ring_.where + sign_ * (steps_ - 1 - step));
  }
  mp::Request* receive(int step) {
    const Pieces::Span span = taken(step);
    if (span.count == 0) return nullptr;
    return s_.receive(ring_.rank_at(ring_.where - sign_), held(step),
                      scaled(span.count, pieces_.element), lane());
  }
  mp::Request* send(int step, const std::byte* in) {
    const Pieces::Span span = pieces_.span(ring_, ring_.where + sign_ * (steps_ - step));
    if (span.count == 0) return nullptr;
    const std::byte* const from = step == 0 ? operand(in, span) : held(step - 1);
    return s_.send(ring_.rank_at(ring_.where + sign_), from, scaled(span.count, pieces_.element),
                   lane());
  }
  const std::byte* operand(const std::byte* in, Pieces::Span span) const {
    return at(in, scaled(span.first - pieces_.edge(ring_.lead), pieces_.element));
  }

 private:
  Lane lane() const { return sign_ > 0 ? Lane::forward : Lane::backward; }

  Participant& s_;
  const Ring& ring_;
  const Pieces& pieces_;
  int sign_;
  int steps_ = 0;
  Buffer even_, odd_;
};

}  // namespace

// The pieces of a coordinate collect the operands of the ranks within half a ring in either
// direction.
mp::Task ring_reduce_scatter(Participant& s, Ring ring, Pieces pieces, RingSum sum) {
  Stream up(s, ring, pieces, 1);
  Stream down(s, ring, pieces, -1);
  for (int k = 0; k < up.steps(); ++k) {
    const bool both = k < down.steps();
    std::array<mp::Request*, 4> open = {};
    open[0] = up.receive(k);
    if (both) open[1] = down.receive(k);
    open[2] = up.send(k, sum.in);
    if (both) open[3] = down.send(k, sum.in);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] != nullptr) co_await s.finish(open[i]);
    }
    // The own pieces include this rank's operand once, at the end.
    if (k + 1 < up.steps()) {
      const Pieces::Span span = up.taken(k);
      s.reduce(sum.reducer, up.operand(sum.in, span), up.held(k), span.count);
    }
    if (k + 1 < down.steps()) {
      const Pieces::Span span = down.taken(k);
      s.reduce(sum.reducer, down.operand(sum.in, span), down.held(k), span.count);
    }
  }
  const Pieces::Span own = pieces.span(ring, ring.where);
  s.copy(sum.out, up.operand(sum.in, own), scaled(own.count, pieces.element));
  if (up.steps() > 0) s.reduce(sum.reducer, up.held(up.steps() - 1), sum.out, own.count);
  if (down.steps() > 0) s.reduce(sum.reducer, down.held(down.steps() - 1), sum.out, own.count);
  co_return ok;
}

}  // namespace weft::coll
