// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_matrix.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weft {
namespace {

constexpr std::uint64_t total_max = std::uint64_t{1} << 62;

bool is_before(const Flow& a, const Flow& b) {
  return a.from != b.from ? a.from < b.from : a.to < b.to;
}

Status check(std::uint32_t ranks, std::span<const Flow> flows) {
  std::uint64_t bytes = 0, messages = 0;
  for (const Flow& flow : flows) {
    if (const std::uint32_t rank = std::max(flow.from, flow.to); rank >= ranks)
      return Error::input(
          fmt::format("rank {} is not one of the {} ranks, which count from 0", rank, ranks));
    if (flow.bytes > total_max - bytes)
      return Error::input("the bytes add up to more than 2^62; give them in a larger unit");
    if (flow.messages > total_max - messages)
      return Error::input("the messages add up to more than 2^62; leave them out");
    bytes += flow.bytes;
    messages += flow.messages;
  }
  return {};
}

// Sorted flows: those of one pair become one, those of nothing vanish.
void merge(std::vector<Flow>& flows) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < flows.size();) {
    Flow sum = flows[i++];
    for (; i < flows.size() && flows[i].from == sum.from && flows[i].to == sum.to; ++i) {
      sum.bytes += flows[i].bytes;
      sum.messages += flows[i].messages;
    }
    if (sum.bytes != 0 || sum.messages != 0) flows[kept++] = sum;
  }
  flows.resize(kept);
  if (flows.capacity() / 2 > kept) flows.shrink_to_fit();
}

}  // namespace

Result<TrafficMatrix> TrafficMatrix::make(std::uint32_t ranks, std::vector<Flow> flows) {
  if (ranks > ranks_max)
    return Error::input(fmt::format("{} ranks; at most {} are possible", ranks, ranks_max));
  if (Status s = check(ranks, flows); !s) return std::move(s).error();
  if (!std::is_sorted(flows.begin(), flows.end(), is_before))
    std::sort(flows.begin(), flows.end(), is_before);
  merge(flows);

  TrafficMatrix made;
  made.ranks_ = ranks;
  made.first_.assign(std::size_t{ranks} + 1, 0);
  for (const Flow& flow : flows) {
    ++made.first_[flow.from + 1];
    made.bytes_ += flow.bytes;
  }
  for (std::size_t r = 0; r < ranks; ++r) made.first_[r + 1] += made.first_[r];
  made.flows_ = std::move(flows);
  return made;
}

}  // namespace weft
