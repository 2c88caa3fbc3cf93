// SPDX-License-Identifier: Apache-2.0
// Constants of a simulation, and the construction of its empty state.
#include "weft/simulate/router/state.hpp"

namespace weft::detail {

Setup::Setup(const Topology& t, const NetworkHardware& m, const Policy& p, Host& h,
             std::uint64_t seed)
    : topology(t),
      graph(t.graph),
      machine(m),
      policy(p),
      facts(p.facts()),
      host(h),
      packet_bits(Rng(seed).stream("packet")),
      vcs(static_cast<std::uint32_t>(m.vcs)),
      all_vcs(vc_range(0, m.vcs)),
      options_max(static_cast<std::uint32_t>(facts.choices_max)),
      commits((m.commit || facts.again) && facts.choices_max > 1),
      asks_late(commits && facts.again),
      timed(facts.looks || commits),
      holds_vcs(!m.lookahead || commits),
      buffered(m.output_buffer.count > 0),
      stages(buffered ? 2 : 1),
      route_ps(m.route.in_ps()),
      alloc_ps(m.vc_alloc.in_ps()),
      leave_ps(m.switch_alloc.in_ps()),
      early_ps(m.lookahead ? route_ps + alloc_ps : 0),
      late_ps(m.lookahead ? 0 : route_ps + alloc_ps),
      flit_bytes(m.flit.count),
      header_bytes(m.header.count) {}

namespace {

// Several processes have one worker each, and one pool for messages that came from elsewhere.
int pools_of(const Placement& placement) {
  return placement.alone() ? placement.partition.workers() : 2;
}

}  // namespace

State::State(const Setup& constants, Placement placed)
    : setup(constants), placement(std::move(placed)), messages(pools_of(placement)) {
  const auto count = static_cast<std::size_t>(placement.partition.workers());
  workers.reserve(count);
  for (std::size_t w = 0; w < count; ++w) {
    workers.emplace_back(messages, setup.machine.order);
    for (auto& side : workers.back().mail) side.resize(count);
  }
}

}  // namespace weft::detail
