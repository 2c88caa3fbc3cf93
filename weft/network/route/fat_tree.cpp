// SPDX-License-Identifier: Apache-2.0
// Fat trees: up to the lowest switch above the destination, then the only way down. Up ports:
//   `source-up`    by the source node's number (source-straight-up, s-mod-k),
//   `dest-down`    by the destination node's number (destination-straight-down, d-mod-k),
//   `adaptive-up`  whichever has least queued.
// By number n, from level l to parent (n / (w1*...*wl)) mod w(l+1) (Zahavi): in a full tree that is
// the node's digit l, and in a tapered one it still deals consecutive nodes evenly to all tops.
// No packet goes up after going down, so one VC is free of deadlock.
//
// Where cables are down in the description, only parents from which there is a way down count
// (tree_reach.hpp). A packet whose parent by number is not among them takes another by a hash of
// its two nodes, so that all others share the load.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/queue_rows.hpp>
#include <weft/network/route/tree_reach.hpp>

namespace weft::detail {
namespace {

// The ports with the shortest queues, as many as a packet may have choices; equal ones in the order
// in which they came.
class ShortestQueues {
 public:
  void add(std::int64_t queued, std::uint16_t port) {
    if (count_ == ports_.size()) {
      if (queued_[count_ - 1] <= queued) return;
      --count_;
    }
    std::size_t at = count_++;
    for (; at > 0 && queued_[at - 1] > queued; --at) {
      queued_[at] = queued_[at - 1];
      ports_[at] = ports_[at - 1];
    }
    queued_[at] = queued;
    ports_[at] = port;
  }
  std::span<const std::uint16_t> ports() const { return std::span(ports_).first(count_); }

 private:
  std::size_t count_ = 0;
  std::array<std::int64_t, Choices::capacity> queued_;
  std::array<std::uint16_t, Choices::capacity> ports_;
};

enum class Up { by_source, by_destination, by_queue };

class FatTreePolicy final : public Policy, private QueueRows {
 public:
  FatTreePolicy(const Topology& t, int vcs, Up up);

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    const Position position = positions_[here.index];
    const Level& level = levels_[position.level];
    const std::uint64_t target = leaf_words_[flight.destination.index];
    if ((target >> level.shift) == position.prefix) {
      if (position.level == 0) return out.add_eject();
      const auto child =
          static_cast<std::uint16_t>((target >> level.child_shift) & level.child_mask);
      if (view.up(child)) out.add({.port = child, .vcs = vcs_, .state = state_of(flight)});
      return;
    }
    if (up_ == Up::by_queue) return add_by_queue(here, flight, view, out);
    const NodeId node = up_ == Up::by_source ? flight.source_node : flight.destination_node;
    auto port =
        static_cast<std::uint16_t>(level.first_parent + node.index / level.divisor % level.parents);
    if (reach_ && !leads(here, port, flight)) port = another_parent(here, flight);
    if (view.up(port)) out.add({.port = port, .vcs = vcs_, .state = state_of(flight)});
  }

  PolicyFacts facts() const override;
  const QueueRows* queue_rows() const override {
    return up_ == Up::by_queue && !reach_ ? this : nullptr;
  }

 private:
  struct Position {
    std::uint64_t prefix = 0;  // The digits that all leaves below share, packed.
    std::uint8_t level = 0;    // 0 is a leaf switch.
  };
  struct Level {
    std::uint64_t child_mask = 0;
    std::uint8_t shift = 0, child_shift = 0;
    std::uint32_t first_parent = 0, parents = 0, divisor = 1;
  };
  // The packet's bits count only where queues do.
  std::uint64_t state_of(const Flight& flight) const {
    return up_ == Up::by_queue ? flight.state : 0;
  }
  bool find(RouterId here, const Flight& flight, QueueRow& row) const override;
  int longest() const override;
  // Where to begin is the packet's own, else equal queues would all fill the first parent.
  static std::uint32_t begin_of(const Level& level, const Flight& flight) {
    return static_cast<std::uint32_t>(
        (static_cast<UnsignedWide>(mix(flight.state + level.divisor)) * level.parents) >> 64);
  }
  void add_by_queue(RouterId here, const Flight& flight, const PortView& view, Choices& out) const;
  // REQUIRES: reach_.
  bool leads(RouterId here, std::uint16_t port, const Flight& flight) const {
    const Port& cable = graph_.ports(here)[port];
    return cable.up && reach_->leads(cable.peer, flight.destination);
  }
  std::uint16_t another_parent(RouterId here, const Flight& flight) const;
  void set_levels(const SwitchTree& tree);
  void set_positions(const SwitchTree& tree);

  std::vector<Position> positions_;        // Per router.
  std::vector<std::uint64_t> leaf_words_;  // Per leaf switch: its digits, x2 lowest.
  std::vector<Level> levels_;
  const Graph& graph_;
  std::optional<TreeReach> reach_;  // None: all cables are up.
  VcMask vcs_;
  Up up_;
};

FatTreePolicy::FatTreePolicy(const Topology& t, int vcs, Up up)
    : positions_(t.graph.router_count()), graph_(t.graph), vcs_(vc_range(0, vcs)), up_(up) {
  const SwitchTree& tree = *t.shape->tree();
  set_levels(tree);
  set_positions(tree);
  if (!graph_.all_up()) reach_.emplace(t);
}

void FatTreePolicy::set_levels(const SwitchTree& tree) {
  levels_.resize(tree.children.size());
  std::uint32_t divisor = 1;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    divisor *= static_cast<std::uint32_t>(tree.parents[l]);
    level.divisor = divisor;
    if (l + 1 < levels_.size()) level.parents = static_cast<std::uint32_t>(tree.parents[l + 1]);
    if (l == 0) continue;
    const auto bits = static_cast<int>(std::bit_width(static_cast<unsigned>(tree.children[l] - 1)));
    level.child_mask = (std::uint64_t{1} << bits) - 1;
    level.child_shift = levels_[l - 1].shift;
    level.shift = static_cast<std::uint8_t>(level.child_shift + bits);
    level.first_parent = static_cast<std::uint32_t>(tree.children[l]);
  }
}

void FatTreePolicy::set_positions(const SwitchTree& tree) {
  std::uint32_t router = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    std::uint32_t subtrees = 1;
    for (std::size_t i = l + 1; i < levels_.size(); ++i)
      subtrees *= static_cast<std::uint32_t>(tree.children[i]);
    for (std::uint32_t s = 0; s < subtrees * levels_[l].divisor; ++s, ++router) {
      Position& position = positions_[router];
      position.level = static_cast<std::uint8_t>(l);
      std::uint32_t digits = s / levels_[l].divisor;
      for (std::size_t i = l + 1; i < levels_.size(); ++i) {
        const auto m = static_cast<std::uint32_t>(tree.children[i]);
        position.prefix |= std::uint64_t{digits % m} << (levels_[i].child_shift - levels_[l].shift);
        digits /= m;
      }
      if (l == 0) leaf_words_.push_back(position.prefix);
    }
  }
  WEFT_CHECK(router == positions_.size());
}

// The first parent itself if none leads there: its cable is down, or the way ends above.
std::uint16_t FatTreePolicy::another_parent(RouterId here, const Flight& flight) const {
  const Level& level = levels_[positions_[here.index].level];
  const std::uint64_t pair =
      (std::uint64_t{flight.source_node.index} << 32) | flight.destination_node.index;
  auto parent = static_cast<std::uint32_t>(mix(pair + level.divisor) % level.parents);
  for (std::uint32_t i = 0; i < level.parents; ++i) {
    const auto port = static_cast<std::uint16_t>(level.first_parent + parent);
    if (leads(here, port, flight)) return port;
    parent = parent + 1 == level.parents ? 0 : parent + 1;
  }
  return static_cast<std::uint16_t>(level.first_parent);
}

void FatTreePolicy::add_by_queue(RouterId here, const Flight& flight, const PortView& view,
                                 Choices& out) const {
  const Level& level = levels_[positions_[here.index].level];
  const std::uint32_t begin = begin_of(level, flight);
  ShortestQueues best;
  std::array<std::int64_t, 64> queues;
  std::uint32_t parent = begin;
  for (std::uint32_t left = level.parents; left > 0;) {
    const std::uint32_t in_row = parent < begin ? begin - parent : level.parents - parent;
    const auto some = std::min(in_row, static_cast<std::uint32_t>(queues.size()));
    const auto first = static_cast<std::uint16_t>(level.first_parent + parent);
    view.queues(first, std::span(queues).first(some));
    for (std::uint32_t i = 0; i < some; ++i) {
      const auto port = static_cast<std::uint16_t>(first + i);
      if (queues[i] == PortView::down || (reach_ && !leads(here, port, flight))) continue;
      best.add(queues[i], port);
    }
    left -= some;
    parent = parent + some == level.parents ? 0 : parent + some;
  }
  for (const std::uint16_t port : best.ports())
    out.add({.port = port, .vcs = vcs_, .state = flight.state});
}

bool FatTreePolicy::find(RouterId here, const Flight& flight, QueueRow& row) const {
  const Position position = positions_[here.index];
  const Level& level = levels_[position.level];
  const std::uint64_t target = leaf_words_[flight.destination.index];
  if ((target >> level.shift) == position.prefix) {
    const auto child = static_cast<std::uint16_t>((target >> level.child_shift) & level.child_mask);
    const bool here_is_end = position.level == 0;
    row = {.first = here_is_end ? Choice::eject : child,
           .count = 1,
           .begin = 0,
           .vcs = here_is_end ? ~VcMask{0} : vcs_,
           .state = here_is_end ? 0 : flight.state};
    return true;
  }
  row = {.first = static_cast<std::uint16_t>(level.first_parent),
         .count = static_cast<std::uint16_t>(level.parents),
         .begin = static_cast<std::uint16_t>(begin_of(level, flight)),
         .vcs = vcs_,
         .state = flight.state};
  return true;
}

int FatTreePolicy::longest() const {
  std::uint32_t most = 1;
  for (const Level& level : levels_) most = std::max(most, level.parents);
  return static_cast<int>(most);
}

PolicyFacts FatTreePolicy::facts() const {
  const auto most = static_cast<std::uint32_t>(longest());
  const bool one_way = up_ != Up::by_queue || most == 1;
  return {
      .choices_max = up_ == Up::by_queue ? std::min(static_cast<int>(most), Choices::capacity) : 1,
      .hops_max = 2 * (static_cast<int>(levels_.size()) - 1),
      .asks_source = up_ == Up::by_source || (up_ == Up::by_destination && reach_),
      .looks = up_ == Up::by_queue,
      .in_order = one_way && std::popcount(vcs_) == 1,
      .one_path = one_way,
      .alike = up_ != Up::by_queue};
}

bool fat_tree_reaches_all(const Topology& t) {
  return t.shape->tree() != nullptr && (t.graph.all_up() || TreeReach(t).reaches_all());
}
int vcs_fat_tree(const Topology& t) {
  return t.shape->tree() != nullptr ? 1 : 0;
}
MadePolicy make_source_up(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<FatTreePolicy>(t, vcs, Up::by_source));
}
MadePolicy make_dest_down(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<FatTreePolicy>(t, vcs, Up::by_destination));
}
MadePolicy make_adaptive_up(const Topology& t, int vcs) {
  return MadePolicy(std::make_unique<FatTreePolicy>(t, vcs, Up::by_queue));
}

}  // namespace

extern const PolicyEntry source_up_policy{
    .name = "source-up",
    .help = "fat tree: up by the source's number (s-mod-k)",
    .vcs_needed = &vcs_fat_tree,
    .make = &make_source_up,
    .reaches_all = &fat_tree_reaches_all,
};
extern const PolicyEntry dest_down_policy{
    .name = "dest-down",
    .help = "fat tree: up by the destination's number (d-mod-k)",
    .vcs_needed = &vcs_fat_tree,
    .make = &make_dest_down,
    .usual = true,
    .reaches_all = &fat_tree_reaches_all,
};
extern const PolicyEntry adaptive_up_policy{
    .name = "adaptive-up",
    .help = "fat tree: up where least is queued",
    .vcs_needed = &vcs_fat_tree,
    .make = &make_adaptive_up,
    .reaches_all = &fat_tree_reaches_all,
};

}  // namespace weft::detail
