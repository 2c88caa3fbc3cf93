// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/tree_reach.hpp"

#include <algorithm>

namespace weft::detail {

TreeReach::TreeReach(const Topology& topology)
    : graph_(topology.graph),
      leaves_(topology.shape->tree()->leaves()),
      first_parent_(graph_.router_count()),
      row_of_leaf_(leaves_, no_row),
      marks_(graph_.router_count(), Mark::unknown) {
  set_first_parents(*topology.shape->tree());
  // A cable that is down cuts ways down to the leaves below it. A switch that cannot go up at all
  // leads to nothing outside.
  std::vector<bool> chosen(leaves_, false);
  std::vector<RouterId> dead_ends;
  for (std::uint32_t r = 0; r < graph_.router_count(); ++r) {
    const auto above = parents(RouterId(r));
    if (std::all_of(above.begin(), above.end(), [](const Port& port) { return port.up; })) continue;
    add_leaves_below(RouterId(r), chosen);
    if (is_dead_end(RouterId(r))) dead_ends.push_back(RouterId(r));
  }
  for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
    if (chosen[leaf] || !dead_ends.empty()) find_blocked(RouterId(leaf), dead_ends);
}

// Switches are numbered level by level from the leaves (SwitchTree).
void TreeReach::set_first_parents(const SwitchTree& tree) {
  std::size_t router = 0;
  for (std::size_t l = 0; l < tree.children.size(); ++l) {
    std::size_t count = 1;
    for (std::size_t i = l + 1; i < tree.children.size(); ++i)
      count *= static_cast<std::size_t>(tree.children[i]);
    for (std::size_t i = 0; i <= l; ++i) count *= static_cast<std::size_t>(tree.parents[i]);
    const int below = l == 0 ? 0 : tree.children[l];
    std::fill_n(first_parent_.begin() + static_cast<std::ptrdiff_t>(router), count,
                static_cast<std::uint16_t>(below));
    router += count;
  }
  WEFT_CHECK(router == first_parent_.size());
}

bool TreeReach::is_dead_end(RouterId r) const {
  const auto above = parents(r);
  return std::none_of(above.begin(), above.end(), [](const Port& port) { return port.up; });
}

void TreeReach::add_leaves_below(RouterId r, std::vector<bool>& chosen) const {
  if (r.index < leaves_) chosen[r.index] = true;
  for (const Port& port : children(r)) add_leaves_below(port.peer, chosen);
}

// Marks the switches above a leaf: from each there is one way down to it.
void TreeReach::climb(RouterId leaf) {
  marked_.assign(1, leaf);
  marks_[leaf.index] = Mark::leads;
  for (std::size_t i = 0; i < marked_.size(); ++i)
    for (const Port& port : parents(marked_[i])) {
      const bool leads = port.up && marks_[marked_[i].index] == Mark::leads;
      marks_[port.peer.index] = leads ? Mark::leads : Mark::blocked;
      marked_.push_back(port.peer);
    }
}

void TreeReach::find_blocked(RouterId leaf, const std::vector<RouterId>& dead_ends) {
  climb(leaf);
  const auto block = [&](RouterId r) {
    marks_[r.index] = Mark::blocked;
    marked_.push_back(r);
  };
  for (const RouterId r : dead_ends)
    if (marks_[r.index] == Mark::unknown) block(r);
  // What is not above the leaf must go up, and cannot once all its parents are blocked.
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    if (marks_[marked_[i].index] != Mark::blocked) continue;
    for (const Port& child : children(marked_[i])) {
      if (marks_[child.peer.index] != Mark::unknown) continue;
      const auto above = parents(child.peer);
      if (std::none_of(above.begin(), above.end(), [&](const Port& port) {
            return port.up && marks_[port.peer.index] != Mark::blocked;
          }))
        block(child.peer);
    }
  }
  keep_row(leaf);
  for (const RouterId r : marked_) marks_[r.index] = Mark::unknown;
}

void TreeReach::keep_row(RouterId leaf) {
  const std::size_t routers = graph_.router_count();
  const std::size_t first = blocked_.size();
  for (const RouterId r : marked_) {
    if (marks_[r.index] != Mark::blocked) continue;
    if (blocked_.size() == first) {
      row_of_leaf_[leaf.index] = static_cast<std::uint32_t>(first / routers);
      blocked_.resize(first + routers, false);
    }
    blocked_[first + r.index] = true;
    if (r.index < leaves_) reaches_all_ = false;
  }
}

}  // namespace weft::detail
