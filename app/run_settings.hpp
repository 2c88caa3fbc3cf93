// SPDX-License-Identifier: Apache-2.0
// What weft run was asked to do, for its record.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::app {

// Writes settings.json into the record's folder. `map`: the file of the map, or empty.
Status write_run_settings(const launch::LaunchJob& job, const std::string& map);

}  // namespace weft::app
