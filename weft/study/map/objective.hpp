// SPDX-License-Identifier: Apache-2.0
// What makes one map better than another: a product of powers of hops, hop-bytes, the busiest link
// and a p-norm of link loads. "paper" is hops times the busiest link (RMATT's eval).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::map {

struct Objective {
  // Exponents; at least one is above 0, none below.
  double hops = 1, hop_bytes = 0, link_max = 1, link_norm = 0;
  double norm = 16;      // The p of the p-norm: a power of two, 2 to 64.
  bool by_time = false;  // The last choice is the simulator's.

  bool needs_links() const { return link_max > 0 || link_norm > 0; }
  bool operator==(const Objective&) const = default;
};

// The value of a map that has these.
double combine(const Objective& objective, double hops, double hop_bytes, double link_max,
               double link_norm);

// "paper", "hop-bytes", "hops", "link-max", "link-norm:8", "time", or a mix of these with weights:
// "mix:hop-bytes=1,link-max=2".
Result<Objective> parse_objective(std::string_view text);
std::string to_text(const Objective& objective);

struct ObjectiveName {
  std::string_view name, help;
};
std::span<const ObjectiveName> objective_names();

}  // namespace weft::map
