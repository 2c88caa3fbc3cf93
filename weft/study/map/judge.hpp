// SPDX-License-Identifier: Apache-2.0
// What a map costs, computed from nothing but the map: slow, obvious, and the truth that everything
// faster is held against.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/study/map/objective.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct Judgement {
  std::uint64_t hops = 0;  // Summed over ordered pairs that talk.
  double hop_bytes = 0;    // Each pair's bytes times its hops.
  double link_max = 0;     // Bytes on the busiest link, times its slowness.
  double link_mean = 0;    // Over all links that are there.
  double link_norm = 0;    // The objective's p-norm, per link: between mean and max.
  LinkId busiest{0};
  std::uint64_t cut_off = 0;  // Pairs without a way.
  double value = 0;           // The objective; less is better.
  std::vector<double> loads;  // By link, times slowness.
};

Judgement judge(const Problem& problem, const RankMap& map, const Objective& objective,
                Paths& paths);

}  // namespace weft::map
