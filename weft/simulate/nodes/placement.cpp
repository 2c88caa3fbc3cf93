// SPDX-License-Identifier: Apache-2.0
#include <weft/network/topo/random_map.hpp>
#include <weft/network/topo/rank_file.hpp>
#include <weft/simulate/nodes/placement.hpp>

namespace weft {

namespace {

Status check_room(std::uint32_t ranks, Placement::Limits limits) {
  if (ranks <= std::uint64_t{limits.nodes} * limits.ranks_per_node) return {};
  return Error::call(std::to_string(ranks) + " ranks do not fit on " +
                     std::to_string(limits.nodes) + " nodes with " +
                     std::to_string(limits.ranks_per_node) +
                     " each; use a larger network or --ranks-per-node");
}

}  // namespace

Placement::Placement(std::vector<std::uint32_t> node, std::uint32_t nodes)
    : node_(std::move(node)), start_(nodes + 1), order_(node_.size()) {
  for (const std::uint32_t n : node_) ++start_[n + 1];
  for (std::uint32_t n = 0; n < nodes; ++n) start_[n + 1] += start_[n];
  std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
  for (std::uint32_t r = 0; r < node_.size(); ++r) order_[next[node_[r]]++] = r;
}

Result<Placement> Placement::block(std::uint32_t ranks, Limits limits) {
  if (Status fits = check_room(ranks, limits); !fits) return std::move(fits).error();
  std::vector<std::uint32_t> node(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) node[r] = r / limits.ranks_per_node;
  Placement placement(std::move(node), limits.nodes);
  placement.block_ = true;
  return placement;
}

Result<Placement> Placement::random(std::uint32_t ranks, Limits limits, std::uint64_t seed) {
  if (Status fits = check_room(ranks, limits); !fits) return std::move(fits).error();
  std::vector<std::uint32_t> node = random_places(limits.nodes * limits.ranks_per_node, seed);
  node.resize(ranks);
  for (std::uint32_t& n : node) n /= limits.ranks_per_node;
  return Placement(std::move(node), limits.nodes);
}

Result<Placement> Placement::read_file(const std::string& path, std::uint32_t ranks, Limits limits,
                                       const Topology& topology) {
  const std::uint32_t rails = topology.graph.node_count() / limits.nodes;
  auto read = read_rank_file(
      {.path = path, .ranks = ranks, .rails = rails, .room = limits.ranks_per_node}, topology);
  if (!read) return std::move(read).error();
  return Placement(std::move(read->node), limits.nodes);
}

}  // namespace weft
