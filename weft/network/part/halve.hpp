// SPDX-License-Identifier: Apache-2.0
// Any graph in two, by METIS: few and light edges between the halves.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::detail {

// Neighbours of vertex v: peer[first[v]] .. peer[first[v + 1] - 1], each edge from both its ends.
// Weights add up to less than 2^31.
struct HalvingTask {
  std::vector<std::uint32_t> first, peer, weight;
  double share = 0.5;  // Share of the vertices for the first half, to one in a thousand.
  std::uint32_t seed = 1;
};

// 0 or 1 for each vertex. One call at a time.
Result<std::vector<std::uint8_t>> halve_graph(const HalvingTask& task);

}  // namespace weft::detail
