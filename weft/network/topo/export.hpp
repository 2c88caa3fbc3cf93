// SPDX-License-Identifier: Apache-2.0
// A network for other programs. The same network gives the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

struct ExportFormat {
  std::string_view name;
  std::string_view help;
  std::string (*write)(const Topology& topology);
};

std::span<const ExportFormat> export_formats();  // dot, graphml, json, graph
// The error names the nearest format.
Result<std::string> export_topology(const Topology& topology, std::string_view format);

}  // namespace weft
