// SPDX-License-Identifier: Apache-2.0
// A rank map as the file that a launcher loads. docs/reference/map-file.md shows each one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct MapFormat {
  std::string_view name, help;
  bool names_hosts = false;    // Nodes stand there by name.
  bool needs_network = false;  // It writes more of the network than numbers and names of nodes.
  bool read_by_weft = false;   // By weft sim, or by weft run if it names hosts.
};
std::span<const MapFormat> map_formats();
const MapFormat* find_map_format(std::string_view name);  // Null: there is none.

struct WriteOptions {
  std::string format = "weft";
  std::vector<std::string> hosts{};  // By node; empty: the names of the network's nodes.
};

// `nodes` by rank. Fails for an unknown format, for what the format cannot say (coordinates in a
// fat tree, gaps in a rank order), and for host names that would break the file.
// REQUIRES: a node of the network for each rank of the problem.
Result<std::string> write_map(const Problem& problem, std::span<const std::uint32_t> nodes,
                              const WriteOptions& options);
// The same for a map that belongs to no problem. A node has as many slots as the fullest has ranks.
Result<std::string> write_map(const Topology& topology, std::span<const std::uint32_t> nodes,
                              const WriteOptions& options);

}  // namespace weft::map
