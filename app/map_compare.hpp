// SPDX-License-Identifier: Apache-2.0
// weft map --compare-methods: the methods of making a map, side by side.
#pragma once

#include "map_options.hpp"
#include "map_setting.hpp"

#include <weft/study/map/search.hpp>

namespace weft::app {

struct Comparison {
  const MapOptions& options;
  const MapSetting& setting;
  const map::SearchOptions& search;  // The options of each search.
};

// Called by all processes; the root prints and writes (--json, --csv, and the best map to -o).
Status compare_maps(const Comparison& comparison, bool is_root);

}  // namespace weft::app
