// SPDX-License-Identifier: Apache-2.0
// A routing policy of one's own: dimension order from the last dimension to the first, on meshes.
// Prints the routers on the way from one node to another.
//
//   column_first mesh:4x3 0 11
//
// Free of deadlock with one virtual channel: a packet that has turned from a later dimension to an
// earlier one never turns back, so no circle of waiting packets can close.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>

#include <weft/base/text.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>

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
    return {.choices_max = 1, .hops_max = hops, .in_order = std::popcount(vcs_) == 1};
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

constexpr weft::PolicyEntry entry{
    "column-first", "the last dimension first, on meshes", &vcs_needed,
    [](const weft::Topology& topology, int vcs) -> weft::Result<std::unique_ptr<weft::Policy>> {
      return std::unique_ptr<weft::Policy>(std::make_unique<ColumnFirst>(topology, vcs));
    }};

// An idle router with every cable up.
class Idle : public weft::PortView {
 public:
  bool up(int) const override { return true; }
  weft::Bytes free(int, int) const override { return weft::Bytes{1 << 20}; }
  weft::Bytes queued(int) const override { return weft::Bytes{0}; }
};

int fail(const char* message) {
  std::fprintf(stderr, "column_first: %s\n", message);
  return 2;
}

void print_route(const weft::Topology& topology, const weft::Policy& policy, weft::NodeId from,
                 weft::NodeId to) {
  const Idle view;
  weft::RouterId here = topology.graph.router_of(from);
  weft::Flight flight{
      .destination = topology.graph.router_of(to), .source_node = from, .destination_node = to};
  weft::Choices choices;
  for (;;) {
    std::printf("%s\n", weft::router_name(topology, here).c_str());
    choices.clear();
    policy.next(here, flight, view, choices);
    if (choices.empty() || choices[0].port == weft::Choice::eject) return;
    here = topology.graph.ports(here)[choices[0].port].peer;
    flight.state = choices[0].state;
    ++flight.hops;
  }
}

int run(int argc, char** argv) {
  if (argc != 4) return fail("usage: column_first TOPOLOGY FROM TO");
  const auto topology = weft::make_topology(argv[1]);
  if (!topology) return fail(topology.error().text().c_str());
  if (entry.vcs_needed(*topology) == 0) return fail("only meshes are supported");
  const auto from = weft::parse_int(argv[2]);
  const auto to = weft::parse_int(argv[3]);
  const auto count = static_cast<std::int64_t>(topology->graph.node_count());
  if (!from || !to || *from < 0 || *to < 0 || *from >= count || *to >= count)
    return fail("FROM and TO are numbers of nodes");
  const auto policy = entry.make(*topology, entry.vcs_needed(*topology));
  if (!policy) return fail(policy.error().text().c_str());
  print_route(*topology, **policy, weft::NodeId(static_cast<std::uint32_t>(*from)),
              weft::NodeId(static_cast<std::uint32_t>(*to)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}
