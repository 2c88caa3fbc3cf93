// SPDX-License-Identifier: Apache-2.0
// At most local, global, local on a dragonfly, never through a third group. The local hop before
// the global one is in the lower half of the VCs, the one after it in the upper half; so channels
// are waited for in the order local-lower, global, local-upper, and there is no cycle. Global hops,
// and the first hop of a path inside a group, may take any VC. Where a local cable is down, a local
// hop is two (bypass.hpp).
//
// Where several cables join two groups, the source takes one that gives the fewest hops; among
// equals, by a hash of the two routers, which keeps packets of a pair in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/network/route/bypass.hpp>
#include <weft/network/route/legs.hpp>

namespace weft::detail {

class DragonflyLegs {
 public:
  explicit DragonflyLegs(const Topology& topology);
  static int vcs_needed(const Topology& topology);  // 0: not a dragonfly.
  // Is there a way in each group between any two routers, and a global cable between any two
  // groups? REQUIRES: vcs_needed(topology) > 0.
  static bool reaches_all(const Topology& topology);

  LegStep step(RouterId here, RouterId target, std::uint32_t state, bool fresh) const;
  int distance(RouterId here, RouterId target) const;
  int hops_max() const {
    const int local = bypass_.all_up() ? 1 : 2;
    return groups_ > 1 ? 2 * local + 1 : local;
  }
  static constexpr bool alike = true;
  bool one_way() const { return true; }
  int vcs_needed() const { return 2; }
  LegMasks masks(int first, int count) const { return halves(first, count); }
  unsigned classes_used() const { return 7u; }

 private:
  // A usable cable out of a group: from position `exit`, port `port`, to position `entry`.
  struct GlobalCable {
    std::uint32_t group = 0;  // Where it leads.
    std::uint16_t exit = 0, port = 0, entry = 0;
  };
  std::span<const GlobalCable> cables(std::uint32_t from_group, std::uint32_t to_group) const {
    const std::size_t row = std::size_t{from_group} * groups_ + to_group;
    return {cables_.data() + first_[row], first_[row + 1] - first_[row]};
  }
  std::uint32_t group(RouterId r) const { return r.index / size_; }
  std::uint32_t position(RouterId r) const { return r.index % size_; }
  std::uint16_t local_port(RouterId here, std::uint32_t other, RouterId target) const {
    return bypass_.port(here, local_, static_cast<int>(position(here)), static_cast<int>(other),
                        target);
  }
  int local_hops(RouterId here, std::uint32_t other) const {
    return bypass_.hops(here, local_, static_cast<int>(position(here)), static_cast<int>(other));
  }
  const GlobalCable* best_cable(RouterId here, RouterId target) const;
  int hops(const GlobalCable& cable, RouterId here, RouterId target) const {
    return 1 + local_hops(here, cable.exit) + local_hops(target, cable.entry);
  }

  std::uint32_t size_, groups_;
  Bypass bypass_;
  Bypass::Set local_;
  std::vector<GlobalCable> cables_;   // By group, then by the group they lead to.
  std::vector<std::uint32_t> first_;  // Per ordered pair of groups.
};

}  // namespace weft::detail
