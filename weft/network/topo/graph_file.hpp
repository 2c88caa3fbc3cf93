// SPDX-License-Identifier: Apache-2.0
// Any network as plain text; the format is docs/reference/graph-file.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

Result<Topology> read_graph_file(const std::string& path);
// `name` stands for the file in errors and becomes the topology's name.
Result<Topology> read_graph_text(std::string_view text, const std::string& name);

// The path of the graph file that a spec names ("graph:FILE"); nothing for other kinds.
std::optional<std::string> graph_file_of(std::string_view spec);

// Reading it gives the same routers, nodes, ports, classes and broken cables under the same
// numbers, but no shape, and link classes only where a cable has them.
std::string write_graph_text(const Topology& topology);

}  // namespace weft
