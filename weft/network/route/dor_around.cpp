// SPDX-License-Identifier: Apache-2.0
// `dor-around` on cubes with cables down: dimension order where its path is whole, and else a
// shortest path of the network that is left: minimal where one of the minimal paths is whole, the
// shortest detour elsewhere. A packet decides at its source and keeps to it. Both kinds have VCs of
// their own, so no chain of waiting packets can close: the lower ones are ordered by dimension
// order (cube_legs.hpp), the upper ones are layers (layered_paths.hpp).
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <weft/base/rng.hpp>
#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/layered_paths.hpp>

namespace weft::detail {
namespace {

constexpr std::array words_known = {
    PolicyWords{"coin|up", "exactly half-way round a ring: by the packet's coin, or always up"}};

class DorAround final : public Policy {
 public:
  // `layers` is 0 where all cables are up.
  DorAround(const Topology& t, int layers, int vcs, bool half_goes_up)
      : graph_(t.graph), legs_(t, half_goes_up), masks_(legs_.masks(0, vcs - layers)) {
    if (layers == 0) return;
    paths_.emplace(t, layers);
    layer_masks_ = LayeredPaths::masks(layers, vcs - layers, layers);
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const bool fresh = flight.hops == 0;
    const auto bits = static_cast<std::uint32_t>(flight.state);
    const bool around = fresh ? paths_ && !is_whole(here, flight.destination, bits)
                              : (flight.state & around_bit) != 0;
    if (around) return go_around(here, flight, view, out);
    const LegStep step = legs_.step(here, flight.destination, bits, fresh);
    if (view.up(step.port))
      out.add({.port = step.port, .vcs = masks_[step.vc_class], .state = step.state});
  }

  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = std::max(legs_.hops_max(), paths_ ? paths_->hops_max() : 0),
            .asks_source = false,
            .looks = false,
            .in_order = legs_.one_way() && single_vcs(masks_, legs_.classes_used()),
            .one_path = legs_.one_way()};
  }

 private:
  static constexpr std::uint64_t around_bit = std::uint64_t{1} << 63;

  bool is_whole(RouterId from, RouterId to, std::uint32_t state) const {
    bool fresh = true;
    for (RouterId here = from; here != to; fresh = false) {
      const LegStep step = legs_.step(here, to, state, fresh);
      const Port& port = graph_.ports(here)[step.port];
      if (!port.usable()) return false;
      here = port.peer;
      state = step.state;
    }
    return true;
  }

  // The state is a hash of the source and the destination, so that each pair has one path.
  void go_around(RouterId here, const Flight& flight, const PortView& view, Choices& out) const {
    const bool fresh = flight.hops == 0;
    const auto hash = static_cast<std::uint32_t>(
        fresh ? mix((std::uint64_t{here.index} << 32) | flight.destination.index) : flight.state);
    const LayerPlace place = fresh ? paths_->start(here, flight.destination, hash)
                                   : LayerPlace::unpack(flight.state >> 32);
    const auto step = paths_->choose(here, flight.destination, place,
                                     mix((std::uint64_t{hash} << 32) | here.index),
                                     [&](int port) { return view.up(port); });
    if (step.port < 0) return;
    out.add({.port = static_cast<std::uint16_t>(step.port),
             .vcs = layer_masks_[step.place.layer],
             .state = around_bit | (std::uint64_t{step.place.pack()} << 32) | hash});
  }

  const Graph& graph_;
  CubeLegs legs_;
  LegMasks masks_;
  std::optional<LayeredPaths> paths_;
  std::array<VcMask, max_vcs> layer_masks_{};
};

int layers_of(const Topology& t) {
  return t.graph.all_up() ? 0 : find_layers(t).least;
}

int vcs_dor_around(const Topology& t) {
  const int legs = CubeLegs::vcs_needed(t);
  if (legs == 0) return 0;
  const int vcs = legs + layers_of(t);
  return vcs <= max_vcs ? vcs : 0;
}
MadePolicy make(const Topology& t, int vcs, bool half_goes_up) {
  const int layers = layers_of(t);
  if (layers > 0)
    if (const Status fits = LayeredPaths::fits(t, "dor-around"); !fits) return fits.error();
  return MadePolicy(std::make_unique<DorAround>(t, layers, vcs, half_goes_up));
}
MadePolicy make_dor_around(const Topology& t, int vcs) {
  return make(t, vcs, false);
}
int vcs_dor_around_with(const Topology& t, const ChosenWords&) {
  return vcs_dor_around(t);
}
TieRule ties_of_dor_around(const ChosenWords& words) {
  return !words.empty() && words.front() == "up" ? TieRule::up : TieRule::coin;
}
MadePolicy make_dor_around_with(const Topology& t, int vcs, const ChosenWords& words) {
  return make(t, vcs, words.front() == "up");
}

}  // namespace

extern const PolicyEntry dor_around_policy{
    .name = "dor-around",
    .help = "as dor, and round broken cables by a shortest path",
    .vcs_needed = &vcs_dor_around,
    .make = &make_dor_around,
    .groups = words_known,
    .vcs_needed_with = &vcs_dor_around_with,
    .make_with = &make_dor_around_with,
    .dimension_order = &ties_of_dor_around,
    .usual = true,
    .one_path_words = "up",
    .reaches_all = [](const Topology&) { return true; },
};

}  // namespace weft::detail
