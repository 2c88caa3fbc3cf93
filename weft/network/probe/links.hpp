// SPDX-License-Identifier: Apache-2.0
// What flows reveal about a tree: switches that delays could not separate, and the rates of links.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <weft/network/probe/find.hpp>
#include <weft/network/probe/finding.hpp>
#include <weft/network/probe/traffic_trials.hpp>

namespace weft::probe {

// Switches, links and hosts of a finding as a rooted tree.
class TreeView {
 public:
  explicit TreeView(const Finding& finding);

  const std::vector<std::uint32_t>& children(std::uint32_t sw) const { return children_[sw]; }
  const std::vector<std::uint32_t>& hosts(std::uint32_t sw) const { return hosts_[sw]; }
  std::uint32_t parent(std::uint32_t sw) const { return parent_[sw]; }  // nowhere for the root.
  bool below(std::uint32_t sw, std::uint32_t top) const;                // Below or equal.
  // Hosts below a switch, or (outside) all others: one of each switch, then the next of each.
  std::vector<std::uint32_t> spread(std::uint32_t top, bool outside) const;

 private:
  std::vector<std::vector<std::uint32_t>> children_, hosts_;
  std::vector<std::uint32_t> parent_;
};

// Looks for further switches where several subtrees meet at one switch as far as delays can tell,
// and adds them. Needs at most as many trials as subtrees squared.
void resolve_stars(TrafficTrials& trials, Finding& finding, Trials how);

// Measures the rates of links that have none yet, and of a host.
void measure_rates(TrafficTrials& trials, Finding& finding,
                   const std::function<void(double share)>& progress);

}  // namespace weft::probe
