// SPDX-License-Identifier: Apache-2.0
// BISEM of the RMATT paper: network and ranks are halved together, again and again, until one rank
// stands in one slot. Placed ranks attract their partners among those that are being divided, so
// that halves come to lie on the right sides.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/study/map/objective.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct BisectOptions {
  std::uint32_t seed = 1;                   // METIS's own.
  bool last_axis_first = false;             // Cuts the last of equally long axes first.
  const std::atomic<bool>* stop = nullptr;  // Raised: the rest is placed in order.
};

RankMap bisect(const Problem& problem, const Objective& objective, const BisectOptions& options);

}  // namespace weft::map
