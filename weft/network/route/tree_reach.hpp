// SPDX-License-Identifier: Apache-2.0
// A fat tree with cables down: which switch still leads, up and then down, to which leaf switch?
// Policies of fat trees ask this before they go up, as the cable that is missing may be on the only
// way down from there. An intact tree needs no answer.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/network/topo/topology.hpp>

namespace weft::detail {

class TreeReach {
 public:
  // REQUIRES: topology.shape->tree(). It outlives this object.
  explicit TreeReach(const Topology& topology);

  bool leads(RouterId from, RouterId leaf) const {
    const std::uint32_t row = row_of_leaf_[leaf.index];
    return row == no_row || !blocked_[std::size_t{row} * graph_.router_count() + from.index];
  }
  // Does every leaf switch lead to every other?
  bool reaches_all() const { return reaches_all_; }

 private:
  static constexpr std::uint32_t no_row = 0xffffffffu;
  enum class Mark : std::uint8_t { unknown, leads, blocked };

  std::span<const Port> parents(RouterId r) const {
    return graph_.ports(r).subspan(first_parent_[r.index]);
  }
  std::span<const Port> children(RouterId r) const {
    return graph_.ports(r).first(first_parent_[r.index]);
  }
  void set_first_parents(const SwitchTree& tree);
  bool is_dead_end(RouterId r) const;  // All its cables up are down.
  void add_leaves_below(RouterId r, std::vector<bool>& chosen) const;
  void find_blocked(RouterId leaf, const std::vector<RouterId>& dead_ends);
  void climb(RouterId leaf);
  void keep_row(RouterId leaf);

  const Graph& graph_;
  std::uint32_t leaves_;
  std::vector<std::uint16_t> first_parent_;  // Per router: the port; those before lead down.
  std::vector<std::uint32_t> row_of_leaf_;   // Only leaves that something does not lead to.
  std::vector<bool> blocked_;                // Rows of all routers.
  bool reaches_all_ = true;
  // Of the leaf at hand.
  std::vector<Mark> marks_;
  std::vector<RouterId> marked_;
};

}  // namespace weft::detail
