// SPDX-License-Identifier: Apache-2.0
// Which node each rank runs on, as a file says it. Three forms, told apart by looking: a record
// "RANK NODE" per line in any order; a node per line, line i being that of rank i; JSON with an
// array "nodes". A node is its number, its name, or a router's name or coordinates (then the
// router's first node). In the first two, '#' begins a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

struct RankNodes {
  std::vector<std::uint32_t> node;  // By rank.
  std::vector<int> line;            // By rank: where the file says it; 0: not known.
};

struct RankFileReading {
  std::string path;         // For messages.
  std::uint32_t ranks = 0;  // Every rank stands in the file once.
  std::uint32_t rails = 1;  // Graph nodes per computer; the file numbers computers.
  std::uint32_t room = 0;   // Ranks that fit on one computer; 0: not checked here.
};

Result<RankNodes> parse_rank_file(std::string_view text, const RankFileReading& how,
                                  const Topology& topology);
Result<RankNodes> read_rank_file(const RankFileReading& how, const Topology& topology);

}  // namespace weft
