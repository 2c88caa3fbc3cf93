// SPDX-License-Identifier: Apache-2.0
// Constants of a simulation, and the construction of its empty state.
#include "weft/simulate/router/state.hpp"

namespace weft::detail {

Setup::Setup(const Topology& topology_, const Machine& machine_, const Policy& policy_, Host& host_,
             std::uint64_t seed)
    : topology(topology_),
      graph(topology_.graph),
      machine(machine_),
      policy(policy_),
      facts(policy_.facts()),
      host(host_),
      packet_bits(Rng(seed).stream("packet")),
      vcs(static_cast<std::uint32_t>(machine_.vcs)),
      all_vcs(vc_range(0, machine_.vcs)),
      options_max(static_cast<std::uint32_t>(facts.choices_max)),
      commits((machine_.commit || facts.again) && facts.choices_max > 1),
      timed(facts.looks || commits),
      holds_vcs(!machine_.lookahead || commits),
      buffered(machine_.output_buffer.count > 0),
      stages(buffered ? 2 : 1),
      route_ps(machine_.route.in_ps()),
      alloc_ps(machine_.vc_alloc.in_ps()),
      leave_ps(machine_.switch_alloc.in_ps()),
      early_ps(machine_.lookahead ? route_ps + alloc_ps : 0),
      late_ps(machine_.lookahead ? 0 : route_ps + alloc_ps),
      flit_bytes(machine_.flit.count),
      header_bytes(machine_.header.count) {}

namespace {

// Several processes have one worker each, and one pool for messages that came from elsewhere.
int pools_of(const Placement& placement) {
  return placement.alone() ? placement.partition.workers() : 2;
}

}  // namespace

State::State(const Setup& setup_, Placement placement_)
    : setup(setup_),
      placement(std::move(placement_)),
      workers(static_cast<std::size_t>(placement.partition.workers())),
      messages(pools_of(placement)) {
  for (Worker& one : workers) {
    for (auto& side : one.mail) side.resize(workers.size());
  }
}

}  // namespace weft::detail
