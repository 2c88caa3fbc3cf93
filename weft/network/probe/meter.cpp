// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/meter.hpp"

#include <algorithm>

#include <weft/base/check.hpp>

namespace weft::probe {

std::vector<double> Instruments::round_trips_ns(std::span<const Pair> pairs) {
  if (pairs.empty()) return {};
  std::vector<double> least(pairs.size(), no_answer);
  for (int i = 0; i < repeats_; ++i) {
    counts_.round_trips += pairs.size();
    ++counts_.batches;
    const std::vector<double> times = meter_.round_trips_ns(pairs);
    WEFT_CHECK(times.size() == pairs.size());
    for (std::size_t p = 0; p < times.size(); ++p) {
      const std::uint64_t key = (std::uint64_t{pairs[p].from} << 32) | pairs[p].to;
      double& known = min_ns_.try_emplace(key, no_answer).first->second;
      if (times[p] >= 0 && (known < 0 || times[p] < known)) known = times[p];
      least[p] = known;
    }
  }
  return least;
}

std::vector<double> Instruments::round_trips_ns(std::span<const Pair> pairs, double limit_ns) {
  constexpr int asked_again_max = 3;
  std::vector<double> times = round_trips_ns(pairs);
  std::size_t before = pairs.size();
  for (int i = 0; i < asked_again_max && !over(); ++i) {
    std::vector<Pair> again;
    std::vector<std::size_t> which;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (times[p] < limit_ns) continue;
      again.push_back(pairs[p]);
      which.push_back(p);
    }
    if (again.size() == before) break;
    before = again.size();
    const std::vector<double> second = round_trips_ns(again);
    for (std::size_t p = 0; p < which.size(); ++p) times[which[p]] = second[p];
  }
  return times;
}

std::vector<double> Instruments::one_by_one_ns(std::span<const Pair> pairs) {
  std::vector<double> times;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    times.push_back(over() ? no_answer : round_trips_ns(pairs.subspan(i, 1)).front());
  return times;
}

std::vector<double> Instruments::flows_bit_per_s(std::span<const Pair> pairs) {
  if (pairs.empty()) return {};
  counts_.flows += pairs.size();
  ++counts_.trials;
  std::vector<double> rates = meter_.flows_bit_per_s(pairs);
  WEFT_CHECK(rates.size() == pairs.size());
  return rates;
}

bool Instruments::over() {
  interrupted_ = interrupted_ || meter_.interrupted();
  out_of_time_ = out_of_time_ || (seconds_max_ > 0 && meter_.elapsed_s() >= seconds_max_);
  return interrupted_ || out_of_time_;
}

const Counts& Instruments::counts() {
  counts_.seconds = meter_.elapsed_s();
  return counts_;
}

std::vector<std::vector<Errand>> plan_rounds(std::span<const Pair> pairs) {
  constexpr std::uint32_t nobody = 0xffffffffu;
  std::uint32_t hosts = 0;
  for (const Pair& pair : pairs) hosts = std::max({hosts, pair.from + 1, pair.to + 1});
  std::vector<std::uint32_t> left(pairs.size());
  for (std::uint32_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<std::vector<Errand>> rounds;
  while (!left.empty()) {
    std::vector<Errand> round;
    std::vector<std::uint32_t> errand_of(hosts, nobody), measured_by(hosts, nobody), later;
    for (const std::uint32_t i : left) {
      const auto [from, to] = pairs[i];
      const bool free_to =
          errand_of[to] == nobody && (measured_by[to] == nobody || measured_by[to] == from);
      if (measured_by[from] != nobody || !free_to) {
        later.push_back(i);
        continue;
      }
      if (errand_of[from] == nobody) {
        errand_of[from] = static_cast<std::uint32_t>(round.size());
        round.push_back({from, {}});
      }
      measured_by[to] = from;
      round[errand_of[from]].pairs.push_back(i);
    }
    rounds.push_back(std::move(round));
    left = std::move(later);
  }
  return rounds;
}

}  // namespace weft::probe
