// SPDX-License-Identifier: Apache-2.0
// The highest load that a network carries, found by trying. Knows no network: the question "does it
// carry this load?" is passed in.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <functional>

#include <weft/base/result.hpp>

namespace weft {

struct SearchSettings {
  double start = 0.05;
  double lowest = 1e-4, highest = 1;
  double tolerance = 0.02;  // Distance of the two ends, relative to the upper one.
};

struct Bracket {
  double stable = 0;    // Carried; 0: not even the lowest load was.
  double unstable = 0;  // Not carried; 0: even the highest load was.
};

// Doubles from the start until a load is not carried (or halves until one is), then halves the
// interval. Loads are whole millionths.
Result<Bracket> find_saturation(const SearchSettings& settings,
                                const std::function<Result<bool>(double load)>& carries);

}  // namespace weft
