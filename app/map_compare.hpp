// SPDX-License-Identifier: Apache-2.0
// weft map --compare: the ways of making a map, side by side.
#pragma once

#include "map_options.hpp"
#include "map_setting.hpp"

#include <weft/study/map/search.hpp>

namespace weft::app {

struct Comparison {
  const MapOptions& options;
  const MapSetting& setting;
  const map::SearchOptions& search;  // For each of the searches.
};

// All processes make this call; one prints and writes (--json, --csv, and the best map by -o).
Status compare_maps(const Comparison& comparison, bool speaks);

}  // namespace weft::app
