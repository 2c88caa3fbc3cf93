// SPDX-License-Identifier: Apache-2.0
// The folder of a record, as weft sim and weft run write it.
#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft::app {

// Takes away what a former run has left, so that nobody takes its numbers for those of this one. A
// folder without the summary of a run is somebody's own and is left as it is.
Status remove_former_record(const std::string& folder);

}  // namespace weft::app
