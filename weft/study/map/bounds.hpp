// SPDX-License-Identifier: Apache-2.0
// Numbers that no map of a problem can beat, each with the argument that proves it. The proofs are
// in docs/concepts/mapping-bounds.md. What is not proved is not counted: a bound may be far below
// the best map, never above it.
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/study/map/objective.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

enum class Argument {
  none,             // Nothing better than 0 is proved.
  neighbours,       // The number of slots near a rank is limited.
  components,       // Ranks that hang together do not fit one router.
  spectrum,         // The pattern holds together more tightly than the cube.
  pinned,           // Ranks with a place of their own say this much to each other.
  mean_link,        // Hop-bytes over all links: the busiest is not below the mean.
  heaviest_flows,   // They leave (reach) a rank by too few links.
  bytes_of_a_rank,  // What a rank sends (hears) over all links of the best router.
  bytes_of_all,     // What all ranks send (hear) over all links of routers with slots.
};

std::string_view describe(Argument argument);

struct Bounds {
  std::uint64_t hops = 0;
  double hop_bytes = 0;
  double link_max = 0;
  double link_norm = 0;  // With the objective's p.
  double value = 0;      // Bound of the objective: the product of its parts' bounds.
  Argument hops_by = Argument::none;
  Argument hop_bytes_by = Argument::none;
  Argument link_max_by = Argument::none;
};

// Bounds on links are 0 where a map may leave ranks without a way to each other, or where it would
// take too long to find out: what has no way loads no link.
Bounds find_bounds(const Problem& problem, const Objective& objective, Paths& paths);

}  // namespace weft::map
