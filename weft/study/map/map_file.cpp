// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/map_file.hpp"

#include <utility>

#include <weft/network/topo/rank_file.hpp>

namespace weft::map {

Result<std::vector<std::uint32_t>> read_map(const std::string& path, const Topology& topology,
                                            std::uint32_t ranks) {
  auto read = read_rank_file({.path = path, .ranks = ranks}, topology);
  if (!read) return std::move(read).error();
  return std::move(read->node);
}

}  // namespace weft::map
