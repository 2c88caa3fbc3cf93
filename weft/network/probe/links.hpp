// SPDX-License-Identifier: Apache-2.0
// What flows tell about a tree: switches that delays could not tell apart, and the rate of links.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <weft/network/probe/find.hpp>
#include <weft/network/probe/finding.hpp>
#include <weft/network/probe/traffic_trials.hpp>

namespace weft::probe {

// Switches, links and hosts of a finding as a rooted tree, for walking.
class TreeView {
 public:
  explicit TreeView(const Finding& finding);

  const std::vector<std::uint32_t>& children(std::uint32_t sw) const { return children_[sw]; }
  const std::vector<std::uint32_t>& hosts(std::uint32_t sw) const { return hosts_[sw]; }
  std::uint32_t parent(std::uint32_t sw) const { return parent_[sw]; }  // nowhere: the root.
  bool below(std::uint32_t sw, std::uint32_t top) const;                // Or the same.
  // Hosts below a switch, or (outside) all others; one of each switch, then the next of each.
  std::vector<std::uint32_t> spread(std::uint32_t top, bool outside) const;

 private:
  std::vector<std::vector<std::uint32_t>> children_, hosts_;
  std::vector<std::uint32_t> parent_;
};

// Where several subtrees part at one switch, so far as delays tell: are there more switches?
// Adds them. At most as many trials as subtrees squared.
void resolve_stars(TrafficTrials& trials, Finding& finding, Trials how);

// Rates of links that have none yet, and of a host.
void measure_rates(TrafficTrials& trials, Finding& finding,
                   const std::function<void(double share)>& progress);

}  // namespace weft::probe
