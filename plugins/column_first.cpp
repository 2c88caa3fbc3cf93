// SPDX-License-Identifier: Apache-2.0
// A routing policy of one's own in a shared library: dimension order from the last dimension to the
// first, on meshes. weft loads it:
//
//   weft traffic --net mesh:8x8 --routing ./libcolumn_first.so:column-first
//
// Free of deadlock with one virtual channel: a packet that has turned from a later dimension to an
// earlier one never turns back, so no circle of waiting packets can close.
#include <bit>
#include <cstdint>
#include <memory>

#include <weft/network/route/policy_plugin.hpp>

namespace {

class ColumnFirst : public weft::Policy {
 public:
  ColumnFirst(const weft::Topology& topology, int vcs)
      : topology_(&topology), lattice_(topology.shape->lattice()), vcs_(weft::vc_range(0, vcs)) {}

  void next(weft::RouterId here, const weft::Flight& flight, const weft::PortView& view,
            weft::Choices& out) const override {
    const weft::Coordinates at = weft::coordinates(*topology_, here);
    const weft::Coordinates to = weft::coordinates(*topology_, flight.destination);
    for (int d = lattice_->dimensions() - 1; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      if (at[i] == to[i]) continue;
      const int port = at[i] < to[i] ? weft::Lattice::up_port(d) : weft::Lattice::down_port(d);
      if (view.up(port)) out.add({.port = static_cast<std::uint16_t>(port), .vcs = vcs_});
      return;
    }
    out.add_eject();
  }

  weft::PolicyFacts facts() const override {
    int hops = 0;
    for (const int radix : lattice_->radix) hops += radix - 1;
    // In two virtual channels one packet could overtake another.
    return {
        .choices_max = 1, .hops_max = hops, .in_order = std::popcount(vcs_) == 1, .one_path = true};
  }

 private:
  const weft::Topology* topology_;
  const weft::Lattice* lattice_;
  weft::VcMask vcs_;
};

int vcs_needed(const weft::Topology& topology) {
  const weft::Lattice* const lattice = topology.shape->lattice();
  if (lattice == nullptr) return 0;
  for (const bool wrap : lattice->wrap)
    if (wrap) return 0;
  return 1;
}

weft::Result<std::unique_ptr<weft::Policy>> make(const weft::Topology& topology, int vcs) {
  return std::unique_ptr<weft::Policy>(std::make_unique<ColumnFirst>(topology, vcs));
}

constexpr weft::PolicyEntry policies[] = {{.name = "column-first",
                                           .help = "the last dimension first, on meshes",
                                           .vcs_needed = &vcs_needed,
                                           .make = &make}};

}  // namespace

WEFT_POLICY_PLUGIN(policies)
