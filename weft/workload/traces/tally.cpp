// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/tally.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <weft/base/units.hpp>

namespace weft::detail {
namespace {

// What is not listed moves no data: barriers, and the making and freeing of handles and memory.
// Where senders and receivers both record a size, the one is taken that all tracers count alike
// (whether a broadcast's root "sends" its data once or once for each member differs).
struct SpreadRow {
  unsigned operation;  // As OTF2 numbers them; the names are MPI's.
  Spread spread;
};
constexpr SpreadRow spreads[] = {
    {1, Spread::from_root},        // bcast
    {2, Spread::to_root},          // gather
    {3, Spread::to_root},          // gatherv
    {4, Spread::from_root},        // scatter
    {5, Spread::from_root},        // scatterv
    {6, Spread::evenly_received},  // allgather
    {7, Spread::evenly_received},  // allgatherv
    {8, Spread::evenly_sent},      // alltoall
    {9, Spread::evenly_sent},      // alltoallv
    {10, Spread::evenly_sent},     // alltoallw
    {11, Spread::doubling},        // allreduce
    {12, Spread::to_root},         // reduce
    {13, Spread::evenly_sent},     // reduce_scatter
    {14, Spread::chain},           // scan
    {15, Spread::chain},           // exscan
    {16, Spread::evenly_sent},     // reduce_scatter_block
};

// Up to this many members each pair is a message of its own; beyond, the pairs would fill the
// memory, and libraries forward blocks (Bruck's algorithm), so member i sends to i + 2^k.
constexpr std::size_t direct_max = 1024;
constexpr std::size_t pairs_max = std::size_t{1} << 25;
// More than a matrix may hold, so that it is refused there.
constexpr std::uint64_t sum_max = (std::uint64_t{1} << 62) + 1;

std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return b >= sum_max || a >= sum_max - b ? sum_max : a + b;
}

std::uint64_t share(std::uint64_t whole, std::uint64_t part, std::uint64_t parts) {
  return static_cast<std::uint64_t>(static_cast<UnsignedWide>(whole) * part / parts);
}

// Shares of unequal rounding that add up to the whole.
std::uint64_t share_at(std::uint64_t whole, std::uint64_t at, std::uint64_t parts) {
  return share(whole, at + 1, parts) - share(whole, at, parts);
}

// How many of the numbers 1 ... n - 1 have bit k.
std::uint64_t count_with_bit(std::uint64_t n, unsigned k) {
  const std::uint64_t bit = std::uint64_t{1} << k;
  const std::uint64_t rest = n % (2 * bit);
  return n / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
}

}  // namespace

Spread spread_of(unsigned operation) {
  for (const SpreadRow& row : spreads)
    if (row.operation == operation) return row.spread;
  return Spread::none;
}

void TrafficTally::Sum::add(std::uint64_t more_bytes, std::uint64_t more_messages) {
  bytes = add_up(bytes, more_bytes);
  messages = add_up(messages, more_messages);
}

void TrafficTally::add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                       std::uint64_t messages) {
  pairs_[std::uint64_t{from} << 32 | to].add(bytes, messages);
}

TrafficTally::Sum& TrafficTally::sum_of(std::vector<Sum>& sums, const Shared& shared,
                                        std::uint32_t member) {
  if (sums.empty()) sums.resize(shared.ranks.size());
  return sums[member];
}

void TrafficTally::add(const CommMembers& comm, const CollectivePart& part) {
  const auto ranks = comm.ranks;
  // An empty part is no message: it is skipped by libraries, too.
  if (ranks.size() < 2 || (part.sent == 0 && part.received == 0)) return;
  // Bytes of the result, which some tracers record on one side only.
  const std::uint64_t result = part.received != 0 ? part.received : part.sent;
  const auto shared = [&]() -> Shared& {
    Shared& found = shared_[comm.group];
    found.ranks = ranks;
    return found;
  };
  switch (part.spread) {
    case Spread::none:
      break;
    case Spread::from_root:
      if (part.member != part.root && part.received != 0)
        add(ranks[part.root], ranks[part.member], part.received);
      break;
    case Spread::to_root:
      if (part.member != part.root && part.sent != 0)
        add(ranks[part.member], ranks[part.root], part.sent);
      break;
    case Spread::evenly_sent:
      sum_of(shared().sent, shared(), part.member).add(part.sent, 1);
      break;
    case Spread::evenly_received:
      sum_of(shared().received, shared(), part.member).add(part.received, 1);
      break;
    case Spread::doubling:
      sum_of(shared().doubled, shared(), part.member).add(result, 1);
      break;
    case Spread::chain:
      if (part.member > 0) add(ranks[part.member - 1], ranks[part.member], result);
      break;
  }
}

void TrafficTally::spread_sent(const Shared& shared) {
  const std::uint64_t n = shared.ranks.size();
  for (std::uint64_t i = 0; i < shared.sent.size(); ++i) {
    const Sum& sum = shared.sent[i];
    if (sum.bytes == 0) continue;
    if (n <= direct_max) {
      for (std::uint64_t j = 0; j < n; ++j)
        if (j != i) add(shared.ranks[i], shared.ranks[j], share_at(sum.bytes, j, n), sum.messages);
      continue;
    }
    for (unsigned k = 0; std::uint64_t{1} << k < n; ++k)
      add(shared.ranks[i], shared.ranks[(i + (std::uint64_t{1} << k)) % n],
          share(sum.bytes, count_with_bit(n, k), n), sum.messages);
  }
}

void TrafficTally::spread_received(const Shared& shared) {
  const std::uint64_t n = shared.ranks.size();
  for (std::uint64_t i = 0; i < shared.received.size(); ++i) {
    const Sum& sum = shared.received[i];
    if (sum.bytes == 0) continue;
    if (n <= direct_max) {
      for (std::uint64_t j = 0; j < n; ++j)
        if (j != i) add(shared.ranks[j], shared.ranks[i], share_at(sum.bytes, j, n), sum.messages);
      continue;
    }
    for (std::uint64_t distance = 1; distance < n; distance *= 2)
      add(shared.ranks[(i + n - distance) % n], shared.ranks[i],
          share(sum.bytes, std::min(distance, n - distance), n), sum.messages);
  }
}

// Members beyond the largest power of two hand their data to a partner below, and get the result.
void TrafficTally::spread_doubled(const Shared& shared) {
  const std::uint64_t power = std::bit_floor(shared.ranks.size());
  for (std::uint64_t i = 0; i < shared.doubled.size(); ++i) {
    const Sum& sum = shared.doubled[i];
    const auto from = [&](std::uint64_t partner) {
      if (sum.bytes != 0) add(shared.ranks[partner], shared.ranks[i], sum.bytes, sum.messages);
    };
    if (i >= power) {
      from(i - power);
      continue;
    }
    for (std::uint64_t distance = 1; distance < power; distance *= 2) from(i ^ distance);
    if (i + power < shared.ranks.size()) from(i + power);
  }
}

Result<TrafficMatrix> TrafficTally::finish(std::uint32_t ranks) && {
  for (const auto& [id, shared] : shared_) {
    spread_sent(shared);
    spread_received(shared);
    spread_doubled(shared);
    if (pairs_.size() > pairs_max) break;
  }
  if (pairs_.size() > pairs_max)
    return Error::input(
        fmt::format("more than {} pairs of ranks talk; record a run of fewer ranks", pairs_max));
  std::vector<Flow> flows;
  flows.reserve(pairs_.size());
  for (const auto& [pair, sum] : pairs_)
    flows.push_back({static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair),
                     sum.bytes, sum.messages});
  pairs_.clear();
  return TrafficMatrix::make(ranks, std::move(flows));
}

}  // namespace weft::detail
