// SPDX-License-Identifier: Apache-2.0
// The search for the highest load that a network carries.
#include <algorithm>
#include <cmath>

#include "weft/study/traffic/load.hpp"

#include <weft/base/check.hpp>

namespace weft {
namespace {

// So that the loads tried print as short numbers.
double in_millionths(double load) {
  return std::floor(load * 1e6 + 0.5) / 1e6;
}

}  // namespace

Result<Bracket> find_saturation(const SearchSettings& settings,
                                const std::function<Result<bool>(double)>& carries) {
  WEFT_CHECK(settings.lowest > 0 && settings.lowest <= settings.start &&
             settings.start <= settings.highest && settings.tolerance > 0);
  Bracket found;
  double load = in_millionths(settings.start);
  // Outwards: each step doubles or halves, so twenty steps span a million.
  while (found.stable == 0 || found.unstable == 0) {
    const auto carried = carries(load);
    if (!carried) return carried.error();
    (*carried ? found.stable : found.unstable) = load;
    if (found.stable > 0 && found.unstable > 0) break;
    const double next =
        std::clamp(*carried ? load * 2 : load / 2, settings.lowest, settings.highest);
    if (in_millionths(next) == load) return found;
    load = in_millionths(next);
  }
  while (found.unstable - found.stable > settings.tolerance * found.unstable) {
    load = in_millionths((found.stable + found.unstable) / 2);
    if (load <= found.stable || load >= found.unstable) break;
    const auto carried = carries(load);
    if (!carried) return carried.error();
    (*carried ? found.stable : found.unstable) = load;
  }
  return found;
}

}  // namespace weft
