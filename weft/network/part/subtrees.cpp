// SPDX-License-Identifier: Apache-2.0
// All switches in one row, cut by weight. The leaves stand in their order, so that subtrees stay
// together, and each switch above stands beside one of its children; the w switches over the same m
// children are dealt evenly to these. So every stretch of the row has its share of every level, and
// a part that holds a subtree holds the switches at its head.
//
// Above some level this may be the wrong way to look at a tree: turned upside down, the switches
// above level s fall apart into as many trees as a subtree of level s has heads, and where there
// are enough of these for all parts, only the cables between s and s + 1 are cut. They are dealt
// evenly to the row. Every level is tried as s; the fewest links win.
#include <algorithm>
#include <numeric>
#include <tuple>

#include <weft/network/part/cuts.hpp>

namespace weft::detail {
namespace {

class Rows {
 public:
  explicit Rows(const CutTask& task)
      : tree_(*task.topology.shape->tree()), positions_(task.weight.size()) {
    for (int i = 2; i <= tree_.levels(); ++i) leaves_ *= children(i);
    for (std::uint32_t r = 0; r < positions_.size(); ++r)
      positions_[r] = position(coordinates(task.topology, RouterId(r)));
  }

  // Switches of levels above `level` stand by the trees into which they fall apart.
  Numbers row(int level) const {
    Numbers made(positions_.size());
    std::iota(made.begin(), made.end(), 0u);
    // Routers are numbered from the leaves.
    const auto upper = std::find_if(
        made.begin(), made.end(), [&](std::uint32_t r) { return positions_[r].digits[0] > level; });
    std::vector<std::uint64_t> slot(made.size());
    for (auto r = made.begin(); r != upper; ++r) slot[*r] = positions_[*r].leaf;
    std::vector<std::uint64_t> apart(made.size());
    for (auto r = upper; r != made.end(); ++r) apart[*r] = tree_above(*r, level);
    std::sort(upper, made.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(apart[a], positions_[a].leaf, a) <
             std::tuple(apart[b], positions_[b].leaf, b);
    });
    const auto count = static_cast<std::uint64_t>(made.end() - upper);
    for (std::uint64_t j = 0; j < count; ++j)
      slot[upper[static_cast<std::ptrdiff_t>(j)]] = (2 * j + 1) * leaves_ / (2 * count);
    std::stable_sort(made.begin(), made.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return slot[a] < slot[b]; });
    return made;
  }

 private:
  struct Position {
    Coordinates digits;      // The level, then from the top.
    std::uint64_t leaf = 0;  // Beside which it stands.
  };

  std::uint64_t children(int level) const {
    return static_cast<std::uint64_t>(tree_.children[static_cast<std::size_t>(level - 1)]);
  }
  std::uint64_t parents(int level) const {
    return static_cast<std::uint64_t>(tree_.parents[static_cast<std::size_t>(level - 1)]);
  }
  std::uint64_t digit(const Coordinates& c, int level) const {
    const int position = tree_.levels() - level + 1;
    return static_cast<std::uint64_t>(c[static_cast<std::size_t>(position)]);
  }

  // Down to the leaf, at each level to the child whose turn it is.
  Position position(Coordinates c) const {
    Position made;
    for (int i = tree_.levels(); i >= 2; --i) {
      const std::uint64_t own = digit(c, i);
      const std::uint64_t child = i > c[0] ? own : (2 * own + 1) * children(i) / (2 * parents(i));
      made.leaf = made.leaf * children(i) + child;
    }
    made.digits = std::move(c);
    return made;
  }

  std::uint64_t tree_above(std::uint32_t router, int level) const {
    std::uint64_t tree = 0;
    for (int i = level; i >= 2; --i) tree = tree * parents(i) + digit(positions_[router].digits, i);
    return tree;
  }

  const SwitchTree& tree_;
  std::uint64_t leaves_ = 1;
  std::vector<Position> positions_;
};

}  // namespace

Owners cut_subtrees(const CutTask& task) {
  const Rows rows(task);
  Owners best;
  std::uint64_t least = 0;
  for (int level = task.topology.shape->tree()->levels(); level >= 1; --level) {
    Owners owner = cut_row(rows.row(level), task);
    const std::uint64_t links = links_between(task.topology.graph, owner);
    if (best.empty() || links < least) {
      best = std::move(owner);
      least = links;
    }
  }
  return best;
}

}  // namespace weft::detail
