// SPDX-License-Identifier: Apache-2.0
// Dimension order on a lattice without asking the policy hop by hop: the hot path of most searches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/network/route/policy.hpp>
#include <weft/study/map/paths.hpp>

namespace weft::map {

class LatticePaths final : public Paths {
 public:
  // Ties by coin count half for each direction. REQUIRES: a lattice, all cables up.
  LatticePaths(const Topology& topology, TieRule ties);

  std::span<const Crossing> between(NodeId from, NodeId to) override;
  std::uint32_t hops(NodeId from, NodeId to) override;
  std::uint32_t whole() const override { return whole_; }
  std::uint32_t pour(NodeId from, NodeId to, double bytes, Deltas& deltas) override;

 private:
  struct Axis {
    int radix = 0;
    bool wrap = false;
    std::uint32_t stride = 0;  // Distance of neighbours in the numbering of routers.
  };
  struct Run {  // Links in one direction.
    std::uint32_t length = 0;
    bool up = false;
    bool tie = false;
  };
  Run run(const Axis& axis, int from, int to) const {
    int ahead = to - from;
    if (!axis.wrap) return {static_cast<std::uint32_t>(ahead < 0 ? -ahead : ahead), ahead > 0};
    ahead += ahead < 0 ? axis.radix : 0;
    const bool up = 2 * ahead <= axis.radix;
    return {static_cast<std::uint32_t>(up ? ahead : axis.radix - ahead), up,
            2 * ahead == axis.radix};
  }
  template <typename Take>
  void follow(std::size_t axis, std::uint32_t router, Run run, Take take) const;
  template <typename Take>
  std::uint32_t walk(NodeId from, NodeId to, Take take) const;

  std::vector<Axis> axes_;
  std::vector<std::uint16_t> place_;    // Coordinates, router by router.
  std::vector<std::uint32_t> routers_;  // By node.
  std::vector<Crossing> found_;
  std::uint32_t whole_ = 1;
};

}  // namespace weft::map
