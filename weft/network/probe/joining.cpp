// SPDX-License-Identifier: Apache-2.0
// Merges switches that noise has split in two. All pairs are measured at once, as none depends on
// another's result.
#include <algorithm>
#include <utility>

#include <weft/network/probe/levels.hpp>
#include <weft/network/probe/placing.hpp>

namespace weft::probe {

// Noise may have split a switch that only connects others.
void Placing::join_idle() {
  for (int at = static_cast<int>(nodes_.size()); --at >= known_ && at > 0;) {
    TreeNode& node = nodes_[static_cast<std::size_t>(at)];
    if (node.parent < 0 || !node.hosts.empty()) continue;
    TreeNode& above = nodes_[static_cast<std::size_t>(node.parent)];
    if (node.depth_ns - above.depth_ns > 1.5 * survey_.slack_ns()) continue;
    for (const int child : node.children) {
      nodes_[static_cast<std::size_t>(child)].parent = node.parent;
      above.children.push_back(child);
    }
    node.children.clear();
    drop_if_idle(at);
  }
}

void Placing::join_close() {
  if (changes_ == joined_) return;  // Nothing has changed.
  join_idle();
  while (!instruments_.over() && join_twins()) {
  }
  joined_ = changes_;
}

// Switches with hosts that are hardly apart.
std::vector<Placing::Twins> Placing::find_twins() const {
  const double close = 6 * survey_.slack_ns();
  std::vector<Twins> found;
  for (int at = static_cast<int>(nodes_.size()); --at > 0;) {
    const TreeNode& node = nodes_[static_cast<std::size_t>(at)];
    if (node.parent < 0 || node.hosts.empty()) continue;
    const TreeNode& above = nodes_[static_cast<std::size_t>(node.parent)];
    if (node.depth_ns - above.depth_ns > close) continue;
    if (!above.hosts.empty()) {
      found.push_back({node.parent, at});
      continue;
    }
    for (const int other : above.children) {
      const TreeNode& sibling = nodes_[static_cast<std::size_t>(other)];
      if (other >= at || sibling.hosts.empty()) continue;  // That pair was already considered.
      if (sibling.depth_ns - above.depth_ns <= close) found.push_back({other, at});
    }
  }
  return found;
}

// Shorter round trips mean that the two are one switch.
double Placing::limit_ns(const Twins& twins) const {
  // If the tree has no distance between them, only busy hosts speak against one switch, so the
  // evidence must be strong.
  const auto first = [&](int node) { return nodes_[static_cast<std::size_t>(node)].hosts[0]; };
  const double apart = tree_ns(first(twins.node), first(twins.other)) - 2 * survey_.host_ns;
  if (apart > survey_.slack_ns()) return survey_.same_ns;
  return std::max(2 * survey_.host_ns + survey_.jump_ns / 3, survey_.same_ns);
}

// Returns true if some were merged, which may make others equal.
bool Placing::join_twins() {
  const std::vector<Twins> twins = find_twins();
  std::vector<Pair> pairs;
  std::vector<std::size_t> ends;
  for (const Twins& two : twins) {
    const auto asked = between(two.node, nodes_[static_cast<std::size_t>(two.other)].hosts);
    pairs.insert(pairs.end(), asked.begin(), asked.end());
    ends.push_back(pairs.size());
  }
  const std::vector<double> times = instruments_.round_trips_ns(pairs, survey_.same_ns);
  bool joined = false;
  for (std::size_t i = 0, begin = 0; i < twins.size(); begin = ends[i++]) {
    const bool both = !nodes_[static_cast<std::size_t>(twins[i].node)].hosts.empty() &&
                      !nodes_[static_cast<std::size_t>(twins[i].other)].hosts.empty();
    if (!both) continue;
    const auto from = times.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = times.begin() + static_cast<std::ptrdiff_t>(ends[i]);
    if (!median_below({from, to}, limit_ns(twins[i]))) continue;
    join(twins[i]);
    joined = true;
  }
  return joined;
}

// Moves hosts and children from one to the other.
void Placing::join(const Twins& twins) {
  TreeNode& other = nodes_[static_cast<std::size_t>(twins.other)];
  put(twins.node, std::exchange(other.hosts, {}));
  for (const int child : other.children) {
    nodes_[static_cast<std::size_t>(child)].parent = twins.node;
    nodes_[static_cast<std::size_t>(twins.node)].children.push_back(child);
  }
  other.children.clear();
  drop_if_idle(twins.other);
}

}  // namespace weft::probe
