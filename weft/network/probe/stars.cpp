// SPDX-License-Identifier: Apache-2.0
// Switches that only flows reveal, where several subtrees meet at one switch.
#include <algorithm>

#include <weft/network/probe/links.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t cheap_branches = 5;  // Up to this many branches are always tried,
constexpr std::size_t branches_max = 24;   // more only if delays are noisy, up to this limit.

// The subtrees at one switch, as leaves of a rooted tree that grows leaf by leaf. `reference` is on
// the side of the root: some link has i and j below it and the reference and y above it exactly if
// flows from i to the reference and from j to y slow each other.
class Star {
 public:
  using Group = TrafficTrials::Group;
  struct Node {
    int leaf = -1;  // -1: an inner node.
    std::vector<int> children;
  };

  Star(TrafficTrials& trials, Group reference, std::vector<Group> leaves)
      : trials_(trials), reference_(std::move(reference)), leaves_(std::move(leaves)) {
    nodes_.push_back({});
  }
  void grow() {
    for (int leaf = 0; leaf < static_cast<int>(leaves_.size()) && !trials_.over(); ++leaf)
      add(leaf);
  }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  const Group& group(int node) const {
    int at = node;
    while (nodes_[static_cast<std::size_t>(at)].leaf < 0)
      at = nodes_[static_cast<std::size_t>(at)].children[0];
    return leaves_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(at)].leaf)];
  }
  bool joined(const Group& i, const Group& j, const Group& y) {
    return !trials_.over() && trials_.slow_each_other(i, reference_, j, y);
  }
  int make(int leaf) {
    nodes_.push_back({leaf, {}});
    return static_cast<int>(nodes_.size()) - 1;
  }
  void add(int leaf);
  int find_sibling(int node, const Group& group);

  TrafficTrials& trials_;
  Group reference_;
  std::vector<Group> leaves_;
  std::vector<Node> nodes_;
};

// The child that shares a link with the new leaf; -1: none.
int Star::find_sibling(int node, const Group& newcomer) {
  const std::vector<int> children = nodes_[static_cast<std::size_t>(node)].children;
  for (std::size_t i = 0; i < children.size() && children.size() > 1; ++i) {
    const int other = children[i == 0 ? 1 : 0];
    if (joined(newcomer, group(children[i]), group(other))) return static_cast<int>(i);
  }
  return -1;
}

void Star::add(int leaf) {
  const Group& newcomer = leaves_[static_cast<std::size_t>(leaf)];
  int node = 0;
  for (;;) {
    auto children = nodes_[static_cast<std::size_t>(node)].children;
    const int sibling = find_sibling(node, newcomer);
    if (sibling < 0) {
      // All leaves so far may be on one side of a link, and the new one on the other.
      if (node == 0 && children.size() > 1 &&
          joined(group(children[0]), group(children[1]), newcomer)) {
        const int below = make(-1);
        nodes_[static_cast<std::size_t>(below)].children = children;
        nodes_[static_cast<std::size_t>(node)].children = {below};
      }
      const int made = make(leaf);
      nodes_[static_cast<std::size_t>(node)].children.push_back(made);
      return;
    }
    const int with = children[static_cast<std::size_t>(sibling)];
    const std::vector<int> inside = nodes_[static_cast<std::size_t>(with)].children;
    if (!inside.empty() && !joined(group(inside[0]), group(inside[1]), newcomer)) {
      node = with;
      continue;
    }
    const int between = make(-1);
    const int made = make(leaf);
    nodes_[static_cast<std::size_t>(between)].children = {with, made};
    nodes_[static_cast<std::size_t>(node)].children[static_cast<std::size_t>(sibling)] = between;
    return;
  }
}

class StarRound {
 public:
  StarRound(TrafficTrials& trials, Finding& finding)
      : trials_(trials), finding_(finding), view_(finding) {}
  void resolve(std::uint32_t sw, bool noisy, bool always);

 private:
  void attach(const Star& star, int node, std::uint32_t above);

  TrafficTrials& trials_;
  Finding& finding_;
  TreeView view_;
  std::vector<std::size_t> links_;  // Links to the star's leaves.
};

void StarRound::resolve(std::uint32_t sw, bool noisy, bool always) {
  std::vector<TrafficTrials::Group> leaves;
  links_.clear();
  for (std::size_t i = 0; i < finding_.links.size(); ++i) {
    if (finding_.links[i].a != sw) continue;
    links_.push_back(i);
    leaves.push_back(view_.spread(finding_.links[i].b, false));
  }
  TrafficTrials::Group reference = view_.hosts(sw);
  if (view_.parent(sw) != nowhere) reference = view_.spread(sw, true);
  if (leaves.size() < 3 || reference.empty()) return;
  const std::size_t most = always ? leaves.size() : noisy ? branches_max : cheap_branches;
  if (leaves.size() > most) return;
  Star star(trials_, std::move(reference), std::move(leaves));
  star.grow();
  if (trials_.over()) return;  // A partial result would be no better than none.
  for (const int child : star.nodes()[0].children) attach(star, child, sw);
}

void StarRound::attach(const Star& star, int node, std::uint32_t above) {
  const Star::Node& here = star.nodes()[static_cast<std::size_t>(node)];
  if (here.leaf >= 0) {
    finding_.links[links_[static_cast<std::size_t>(here.leaf)]].a = above;
    return;
  }
  const auto made = static_cast<std::uint32_t>(finding_.switches.size());
  finding_.switches.push_back({"", finding_.switches[above].depth_ns});
  LinkFound link;
  link.a = above;
  link.b = made;
  link.shared = true;
  finding_.links.push_back(link);
  for (const int child : here.children) attach(star, child, made);
}

}  // namespace

void resolve_stars(TrafficTrials& trials, Finding& finding, Trials how) {
  if (how == Trials::never) return;
  constexpr double noisy_share = 1.0 / 16;
  const bool noisy = finding.noise_ns > noisy_share * finding.jump_ns;
  const auto known = static_cast<std::uint32_t>(finding.switches.size());
  for (std::uint32_t sw = 0; sw < known && !trials.over(); ++sw)
    StarRound(trials, finding).resolve(sw, noisy, how == Trials::always);
}

}  // namespace weft::probe
