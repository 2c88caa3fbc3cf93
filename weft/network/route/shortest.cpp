// SPDX-License-Identifier: Apache-2.0
// `shortest` on any graph, broken cables included: a shortest path, by table, in layers of VCs
// (layered_paths.hpp). A hash of the two nodes chooses the layer to begin in, which spreads packets
// over all layers, and among equal next steps; so each pair keeps its order.
#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/base/rng.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/layered_paths.hpp>

namespace weft::detail {
namespace {

class Shortest final : public Policy {
 public:
  Shortest(const Topology& t, int layers, int vcs)
      : paths_(t, layers), masks_(LayeredPaths::masks(layers, 0, vcs)), one_each_(vcs == layers) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const std::uint64_t pair =
        mix((std::uint64_t{flight.source_node.index} << 32) | flight.destination_node.index);
    const LayerPlace place = flight.hops == 0 ? paths_.start(here, flight.destination, pair >> 32)
                                              : LayerPlace::unpack(flight.state);
    const auto step = paths_.choose(here, flight.destination, place, mix(pair + here.index),
                                    [&](int port) { return view.up(port); });
    if (step.port < 0) return;
    out.add({.port = static_cast<std::uint16_t>(step.port),
             .vcs = masks_[step.place.layer],
             .state = step.place.pack()});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = paths_.hops_max(),
            .asks_source = true,
            .looks = false,
            .in_order = one_each_,
            .one_path = true};
  }

 private:
  LayeredPaths paths_;
  std::array<VcMask, max_vcs> masks_;
  bool one_each_;
};

int vcs_shortest(const Topology& t) {
  const int layers = find_layers(t).least;
  return layers <= max_vcs ? layers : 0;
}
int vcs_usual_shortest(const Topology& t) {
  return find_layers(t).usual();
}
MadePolicy make_shortest(const Topology& t, int vcs) {
  if (const Status fits = LayeredPaths::fits(t, "shortest"); !fits) return fits.error();
  return MadePolicy(std::make_unique<Shortest>(t, std::min(vcs, find_layers(t).all), vcs));
}

}  // namespace

extern const PolicyEntry shortest_policy{
    .name = "shortest",
    .help = "shortest path on any graph, in layers of VCs",
    .vcs_needed = &vcs_shortest,
    .make = &make_shortest,
    .usual = true,
    .any_graph = true,
    .vcs_usual = &vcs_usual_shortest,
};

}  // namespace weft::detail
