// SPDX-License-Identifier: Apache-2.0
// Records of all kinds of runs, read for showing. What a record does not have is named in the
// remarks, with the option that would have recorded it.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

struct Limits {
  std::size_t heat_bytes = std::size_t{24} << 20;  // Frames are put together beyond.
  std::size_t pairs = std::size_t{1} << 20;        // Ranks are put together beyond.
  std::size_t spans = std::size_t{2} << 20;        // Calls are put together beyond.
};

// A folder of weft sim or weft run, or a JSON file of weft traffic, map or probe.
Result<RunView> load(const std::string& path, const Limits& limits);

}  // namespace weft::report
