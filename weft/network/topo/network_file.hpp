// SPDX-License-Identifier: Apache-2.0
// The [network] table of a description, and whatever else a user may give to name a network.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <string>
#include <string_view>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

// Keys: topology (a spec; a graph file's path counts from `folder`), nodes_per_router, and down: a
// list of "A-B", each of which breaks one cable between routers A and B.
Result<Topology> read_topology(ConfigTable table, const std::string& folder);

// A spec ("torus:4x4"), a description (*.toml) or a graph file.
Result<Topology> load_topology(std::string_view spec_or_path);

}  // namespace weft
