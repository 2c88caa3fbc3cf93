// SPDX-License-Identifier: Apache-2.0
// The ways to cut. Private to part: part.cpp checks the request and chooses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::detail {

using Numbers = std::vector<std::uint32_t>;
using Owners = Numbers;  // The part of each router.

struct CutTask {
  const Topology& topology;
  std::span<const std::uint32_t> weight;  // By router.
  std::uint32_t parts;                    // At least 2, at most as many as routers.
};

// Cuts a row of routers where the weights come nearest to the wanted shares; piece i has at least
// shares[i] routers. Returns where each piece begins, and the end. With equal shares no piece is
// more than the heaviest router away from the mean.
Numbers cut_row(std::span<const std::uint32_t> row, std::span<const std::uint32_t> weight,
                std::span<const std::uint32_t> shares);

// The same with a share for each part.
Owners cut_row(std::span<const std::uint32_t> row, const CutTask& task);

Owners cut_ranges(const CutTask& task);
Owners cut_blocks(const CutTask& task);    // REQUIRES: a shape with coordinates.
Owners cut_subtrees(const CutTask& task);  // REQUIRES: a fat tree.
Result<Owners> cut_metis(const CutTask& task);

// Both directions of every cable that is up.
std::uint64_t links_between(const Graph& graph, const Owners& owner);

std::vector<std::uint64_t> part_weights(const CutTask& task, const Owners& owner);

// Moves routers until no part is empty and none is much heavier than the mean: by the heaviest
// router or a thirty-second. Moves what cuts the fewest links anew.
void even_out(const CutTask& task, Owners& owner);

}  // namespace weft::detail
