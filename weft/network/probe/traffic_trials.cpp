// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/traffic_trials.hpp"

#include <algorithm>

#include <weft/network/probe/levels.hpp>

namespace weft::probe {
namespace {

// Relative to a flow alone: two flows over one full link get half each, others their full rate.
constexpr double slowed_below = 0.75;
constexpr double shared_below = 0.65;  // The same, relative to flows that share nothing.
// One host on each side may not fill a link that is faster than its own.
constexpr std::size_t flows_max = 2;

double sum_of(const std::vector<double>& rates) {
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

void add_pairs(std::vector<Pair>& pairs, std::span<const std::uint32_t> from,
               std::span<const std::uint32_t> to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) pairs.push_back({from[i], to[i]});
}

}  // namespace

double TrafficTrials::flow_between(const Group& from, const Group& to, std::size_t count) {
  std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(count), from[0], to[0]};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  std::vector<Pair> pairs;
  add_pairs(pairs, from, to, count);
  return known_[key] = sum_of(instruments_.flows_bit_per_s(pairs));
}

double TrafficTrials::alone_bit_per_s(std::uint32_t from, std::uint32_t to) {
  return flow_between({from}, {to}, 1);
}

double TrafficTrials::share_left(const Group& i, const Group& x, const Group& j, const Group& y,
                                 std::size_t count) {
  const double alone = flow_between(i, x, count) + flow_between(j, y, count);
  std::vector<Pair> pairs;
  add_pairs(pairs, i, x, count);
  add_pairs(pairs, j, y, count);
  const double together = sum_of(instruments_.flows_bit_per_s(pairs));
  return alone > 0 ? together / alone : 1;
}

bool TrafficTrials::slow_each_other(const Group& i, const Group& x, const Group& j,
                                    const Group& y) {
  const std::size_t count = std::min({i.size(), x.size(), j.size(), y.size(), flows_max});
  if (share_left(i, x, j, y, count) >= slowed_below) return false;
  // Busy hosts slow flows too, but then also the same hosts paired so that they share nothing. Both
  // are measured alternately, so that they see the same disturbances; the median of three counts.
  std::vector<double> ratios;
  for (int turn = 0; turn < 3; ++turn) {
    const double control = std::min(1.0, share_left(i, j, x, y, count));
    const double left = share_left(i, x, j, y, count);
    ratios.push_back(control > 0 ? left / control : 1);
  }
  return median(std::move(ratios)) < shared_below;
}

}  // namespace weft::probe
