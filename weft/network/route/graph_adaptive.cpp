// SPDX-License-Identifier: Apache-2.0
// The escape is offered in every state, from the lowest layer on, and not left again; its layers
// have no cycle (layered_paths.hpp). Both kinds of step lie on shortest paths.
#include "weft/network/route/graph_adaptive.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include <weft/base/rng.hpp>
#include <weft/network/route/layered_paths.hpp>

namespace weft::detail {
namespace {

class GraphAdaptive final : public Policy {
 public:
  GraphAdaptive(const Topology& t, int layers, int vcs)
      : graph_(t.graph),
        paths_(t, layers),
        escape_(LayeredPaths::masks(layers, 0, layers)),
        adaptive_(vc_range(layers, vcs - layers)) {
    std::size_t ports = 0;
    for (std::uint32_t r = 0; r < graph_.router_count(); ++r)
      ports = std::max(ports, graph_.ports(RouterId(r)).size());
    choices_max_ = static_cast<int>(std::min(ports, best_max)) + 1;
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    const bool escaped = flight.hops != 0 && (flight.state & escaped_bit) != 0;
    const auto bits = static_cast<std::uint32_t>(flight.state);
    if (!escaped) add_adaptive(here, flight.destination, bits, view, out);
    const LayerPlace place = escaped ? LayerPlace::unpack(flight.state >> 32) : LayerPlace{};
    const auto step = paths_.choose(here, flight.destination, place,
                                    mix((std::uint64_t{bits} << 32) | here.index),
                                    [&](int port) { return view.up(port); });
    if (step.port < 0) return;
    out.add({.port = static_cast<std::uint16_t>(step.port),
             .escape = true,
             .vcs = escape_[step.place.layer],
             .state = escaped_bit | (std::uint64_t{step.place.pack()} << 32) | bits});
  }

  PolicyFacts facts() const override {
    return {.choices_max = choices_max_,
            .hops_max = paths_.hops_max(),
            .asks_source = false,
            .looks = true,
            .in_order = false};
  }

 private:
  static constexpr std::uint64_t escaped_bit = std::uint64_t{1} << 63;
  static constexpr std::size_t best_max = Choices::capacity - 1;

  struct Way {
    std::int64_t room;
    std::uint16_t port;
  };

  void add_adaptive(RouterId here, RouterId target, std::uint32_t bits, const PortView& view,
                    Choices& out) const {
    const auto ports = graph_.ports(here);
    std::array<Way, best_max> ways;
    std::size_t count = 0;
    // The packet's bits say which of equals comes first, so that they are used alike.
    std::size_t p = mix(bits) % ports.size();
    for (std::size_t i = 0; i < ports.size(); ++i, p = p + 1 == ports.size() ? 0 : p + 1) {
      const int port = static_cast<int>(p);
      if (!paths_.leads(here, ports[p], target) || !view.up(port)) continue;
      const Way way{.room = room(view, port), .port = static_cast<std::uint16_t>(p)};
      if (count == best_max && ways[count - 1].room >= way.room) continue;
      std::size_t at = count < best_max ? count++ : count - 1;
      for (; at > 0 && ways[at - 1].room < way.room; --at) ways[at] = ways[at - 1];
      ways[at] = way;
    }
    for (std::size_t i = 0; i < count; ++i)
      out.add({.port = ways[i].port, .vcs = adaptive_, .state = bits});
  }

  std::int64_t room(const PortView& view, int port) const {
    std::int64_t sum = 0;
    for (VcMask left = adaptive_; left != 0; left &= left - 1)
      sum += view.free(port, std::countr_zero(left)).count;
    return sum;
  }

  const Graph& graph_;
  LayeredPaths paths_;
  std::array<VcMask, max_vcs> escape_;
  VcMask adaptive_;
  int choices_max_ = 0;
};

}  // namespace

int vcs_graph_adaptive(const Topology& t) {
  const int vcs = find_layers(t).least + 1;
  return vcs <= max_vcs ? vcs : 0;
}

MadePolicy make_graph_adaptive(const Topology& t, int vcs) {
  if (const Status fits = LayeredPaths::fits(t, "min-adaptive"); !fits) return fits.error();
  return MadePolicy(std::make_unique<GraphAdaptive>(t, find_layers(t).least, vcs));
}

}  // namespace weft::detail
