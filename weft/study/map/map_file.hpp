// SPDX-License-Identifier: Apache-2.0
// A rank map that somebody wrote: what weft map writes as "weft", "nodes" or "json" (formats.hpp),
// what weft sim --map reads, and the coordinate lists and host lists that name nodes as the network
// does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::map {

// The node of each rank. Whether they fit is for Problem::from_nodes() to say. Errors name file,
// line and what to mend.
Result<std::vector<std::uint32_t>> read_map(const std::string& path, const Topology& topology,
                                            std::uint32_t ranks);

}  // namespace weft::map
