// SPDX-License-Identifier: Apache-2.0
// Broadcast algorithms.
#include <algorithm>
#include <bit>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

// Segment of the chain: an eager message on most networks, so that segments follow each other on
// links without gaps.
constexpr std::size_t segment = 16384;

std::size_t piece(std::size_t size, int parts, int i) {
  return static_cast<std::size_t>(cut(static_cast<std::int64_t>(size), parts, i));
}

// Lowest set bit of position v in a binomial tree over p positions, or the size of the tree.
int tree_bit(int v, int p) {
  return v == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(p))) : v & -v;
}

}  // namespace

mp::Task bcast_binomial(Team team, Bcast args) {
  Participant s(team);
  const int p = s.size();
  const int place = (s.rank() - args.root + p) % p;
  const int bit = tree_bit(place, p);
  if (place != 0) {
    co_await s.finish(s.receive((place - bit + args.root) % p, bytes(args.data), args.size));
  }
  Window window;  // At most log2 p; limits the number in flight for huge teams only.
  for (int mask = bit / 2; mask > 0; mask /= 2) {
    if (place + mask >= p) continue;
    if (window.full()) co_await s.finish(window.pop());
    window.push(s.send((place + mask + args.root) % p, bytes(args.data), args.size));
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

mp::Task bcast_scatter_allgather(Team team, Bcast args) {
  Participant s(team);
  const int p = s.size();
  const int place = (s.rank() - args.root + p) % p;
  const auto rank_of = [&](int at_place) { return (at_place + args.root) % p; };
  std::byte* const data = bytes(args.data);
  // Down a binomial tree, where position v receives the pieces of all positions below it.
  const int bit = tree_bit(place, p);
  if (place != 0) {
    const std::size_t first = piece(args.size, p, place);
    const std::size_t last = piece(args.size, p, std::min(place + bit, p));
    if (last > first) {
      co_await s.finish(s.receive(rank_of(place - bit), at(data, first), last - first));
    }
  }
  for (int mask = bit / 2; mask > 0; mask /= 2) {
    if (place + mask >= p) continue;
    const std::size_t first = piece(args.size, p, place + mask);
    const std::size_t last = piece(args.size, p, std::min(place + 2 * mask, p));
    if (last > first) {
      co_await s.finish(s.send(rank_of(place + mask), at(data, first), last - first));
    }
  }
  // Around the ring.
  for (int step = 0; step + 1 < p; ++step) {
    const int mine = (place - step + p) % p;
    const int next = (place - step - 1 + p) % p;
    const std::size_t out_at = piece(args.size, p, mine);
    const std::size_t in_at = piece(args.size, p, next);
    const std::size_t out_size = piece(args.size, p, mine + 1) - out_at;
    const std::size_t in_size = piece(args.size, p, next + 1) - in_at;
    mp::Request* in = nullptr;
    if (in_size > 0) in = s.receive(rank_of(place + p - 1), at(data, in_at), in_size);
    if (out_size > 0) {
      co_await s.finish(s.send(rank_of(place + 1), at(data, out_at), out_size));
    }
    if (in != nullptr) co_await s.finish(in);
  }
  co_return s.error();
}

mp::Task bcast_pipeline(Team team, Bcast args) {
  Participant s(team);
  const int p = s.size();
  const int place = (s.rank() - args.root + p) % p;
  const int before = (s.rank() - 1 + p) % p;
  const int after = (s.rank() + 1) % p;
  const bool last = place == p - 1;
  std::byte* const data = bytes(args.data);
  mp::Request* in = nullptr;
  mp::Request* out = nullptr;
  if (place != 0) in = s.receive(before, data, std::min(segment, args.size));
  for (std::size_t done = 0; done < args.size; done += segment) {
    const std::size_t size = std::min(segment, args.size - done);
    if (place != 0) {
      co_await s.finish(in);
      const std::size_t next = done + size;
      if (next < args.size) {
        in = s.receive(before, at(data, next), std::min(segment, args.size - next));
      }
    }
    if (last) continue;
    if (out != nullptr) co_await s.finish(out);
    out = s.send(after, at(data, done), size);
  }
  if (out != nullptr) co_await s.finish(out);
  co_return s.error();
}

mp::Task bcast_linear(Team team, Bcast args) {
  Participant s(team);
  if (s.rank() != args.root) {
    co_await s.finish(s.receive(args.root, bytes(args.data), args.size));
    co_return s.error();
  }
  Window window;
  for (int i = 1; i < s.size(); ++i) {
    if (window.full()) co_await s.finish(window.pop());
    window.push(s.send((args.root + i) % s.size(), bytes(args.data), args.size));
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

}  // namespace weft::coll
