// SPDX-License-Identifier: Apache-2.0
// The folder of a record, which weft sim and weft run write.
#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft::app {

// The machine of a simulated run, which reads as --net, and the graph file that it names.
inline constexpr const char* machine_used_name = "machine-used.toml";
inline constexpr const char* graph_used_name = "network-used.graph";

// Removes the record of an earlier run, so that its numbers are not taken for those of this run. A
// folder without the summary of a run is left as it is.
Status remove_former_record(const std::string& folder);

}  // namespace weft::app
