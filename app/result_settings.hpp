// SPDX-License-Identifier: Apache-2.0
// What a result of weft traffic or weft map was made from, for its JSON file: in the shape that
// settings.json of a run record has, so that two results are told apart by what was asked for.
#pragma once

#include <string>

#include "map_options.hpp"
#include "map_setting.hpp"
#include "traffic_options.hpp"

#include <weft/program/run_record/run_settings.hpp>
#include <weft/study/traffic/sweep.hpp>

namespace weft::app {

RunSettings map_settings(const MapOptions& options, const MapSetting& setting);

// The settings of the experiment; `load` as it was asked for.
RunSettings traffic_settings(const TrafficOptions& options, const Phases& phases,
                             const std::string& load);
// The JSON of a sweep with these settings and those of the scenarios: what all curves have in
// common stands beside the curves, the rest in each of them.
std::string with_settings(const Sweep& sweep, RunSettings run);

}  // namespace weft::app
