// SPDX-License-Identifier: Apache-2.0
// Concurrent flows, and whether they slow each other. Two flows i to x and j to y share a link in
// the same direction exactly if some link has i and j on one side and x and y on the other (or if
// they share an end). This shows what delays cannot, as long as the link can be filled.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <weft/network/probe/meter.hpp>

namespace weft::probe {

class TrafficTrials {
 public:
  using Group = std::vector<std::uint32_t>;  // Hosts of one switch or subtree.

  explicit TrafficTrials(Instruments& instruments) : instruments_(instruments) {}

  // Whether flows from i to x and from j to y slow each other. The groups must be disjoint.
  bool slow_each_other(const Group& i, const Group& x, const Group& j, const Group& y);

  std::vector<double> rates_bit_per_s(std::span<const Pair> flows) {
    return instruments_.flows_bit_per_s(flows);
  }
  // The rate of a single flow between two hosts; measured once.
  double alone_bit_per_s(std::uint32_t from, std::uint32_t to);

  bool over() { return instruments_.over(); }

 private:
  double share_left(const Group& i, const Group& x, const Group& j, const Group& y,
                    std::size_t count);
  double flow_between(const Group& from, const Group& to, std::size_t count);

  Instruments& instruments_;
  std::map<std::vector<std::uint32_t>, double> known_;
};

}  // namespace weft::probe
