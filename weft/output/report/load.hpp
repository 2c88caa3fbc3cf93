// SPDX-License-Identifier: Apache-2.0
// Loads the records of all kinds of runs for display. What a record lacks is listed in the remarks,
// with the option that would have recorded it.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

struct Limits {
  std::size_t heat_bytes = std::size_t{24} << 20;  // Frames are merged beyond this size.
  std::size_t pairs = std::size_t{1} << 20;        // Ranks are merged beyond this count.
  std::size_t spans = std::size_t{2} << 20;        // Calls are merged beyond this count.
};

// A folder of weft sim or weft run, or a JSON file of weft traffic, map or probe.
Result<RunView> load(const std::string& path, const Limits& limits);

}  // namespace weft::report
