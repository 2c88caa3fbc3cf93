// SPDX-License-Identifier: Apache-2.0
// Which rank runs on which node: block by block, by chance, or as a rank file
// (weft/network/topo/rank_file.hpp) says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

class Placement {
 public:
  struct Limits {
    std::uint32_t nodes = 0;
    std::uint32_t ranks_per_node = 1;
  };
  // Rank r on node r / ranks_per_node.
  static Result<Placement> block(std::uint32_t ranks, Limits limits);
  // Rank r on a place by chance (weft/network/topo/random_map.hpp).
  static Result<Placement> random(std::uint32_t ranks, Limits limits, std::uint64_t seed);
  static Result<Placement> read_file(const std::string& path, std::uint32_t ranks, Limits limits,
                                     const Topology& topology);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(node_.size()); }
  std::uint32_t node(RankId rank) const { return node_[rank.index]; }
  // The ranks of a node, ascending; slot is a rank's place among them.
  const std::uint32_t* first(std::uint32_t node) const { return order_.data() + start_[node]; }
  std::uint32_t count(std::uint32_t node) const { return start_[node + 1] - start_[node]; }
  bool is_block() const { return block_; }

 private:
  Placement(std::vector<std::uint32_t> node, std::uint32_t nodes);
  std::vector<std::uint32_t> node_;   // By rank.
  std::vector<std::uint32_t> start_;  // By node, in order_.
  std::vector<std::uint32_t> order_;  // Ranks by node.
  bool block_ = false;
};

}  // namespace weft
