// SPDX-License-Identifier: Apache-2.0
// What every kind of network promises, asked of each row of the table by its example: the closed
// forms of its shape agree with a search of its graph. A new kind is tested here without more.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/network/topo/search.hpp>

namespace weft {
namespace {

class EveryKind : public testing::TestWithParam<TopologyKind> {
 protected:
  void SetUp() override {
    auto made = make_topology(GetParam().example);
    ASSERT_TRUE(made) << made.error().text();
    network_ = *std::move(made);
  }
  const Graph& graph() const { return network_.graph; }
  const Shape& shape() const { return *network_.shape; }
  std::uint32_t routers() const { return network_.graph.router_count(); }

  Topology network_;
};
class EveryGrid : public EveryKind {};     // Kinds that answer axes().
class EveryLattice : public EveryKind {};  // Kinds that answer lattice().

TEST_P(EveryKind, IsConnected) {
  EXPECT_GT(graph().node_count(), 1u);
  const Status valid = validate(network_);
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST_P(EveryKind, SpecRoundTrips) {
  EXPECT_TRUE(GetParam().usage.starts_with(GetParam().name));
  const auto again = make_topology(network_.name);
  ASSERT_TRUE(again) << network_.name << ": " << again.error().text();
  EXPECT_EQ(again->name, network_.name);
  EXPECT_EQ(again->graph.node_count(), graph().node_count());
  ASSERT_EQ(again->graph.link_count(), graph().link_count());
  for (std::uint32_t l = 0; l < graph().link_count(); ++l)
    EXPECT_EQ(again->graph.port(LinkId(l)).peer, graph().port(LinkId(l)).peer);
}

TEST_P(EveryKind, CoordinatesAndNamesRoundTrip) {
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < routers(); ++i) {
    const RouterId r(i);
    EXPECT_EQ(find_router(network_, coordinates(network_, r)), r);
    const std::string name = router_name(network_, r);
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    const auto found = find_router(network_, name);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(*found, r);
  }
  EXPECT_FALSE(find_router(network_, Coordinates{}));
  EXPECT_FALSE(find_router(network_, "no such router"));
}

TEST_P(EveryKind, DistancesAgreeWithASearch) {
  double total = 0;
  int largest = 0;
  for (std::uint32_t a = 0; a < routers(); ++a) {
    const auto searched = distances_from(graph(), RouterId(a));
    for (std::uint32_t b = 0; b < routers(); ++b) {
      EXPECT_EQ(distance(network_, RouterId(a), RouterId(b)), searched[b]) << a << " to " << b;
      if (graph().nodes_at(RouterId(a)).empty() || graph().nodes_at(RouterId(b)).empty()) continue;
      total += searched[b];
      largest = std::max(largest, searched[b]);
    }
  }
  if (const auto sum = shape().distance_sum(graph())) {
    EXPECT_EQ(sum->total, total);
    EXPECT_EQ(sum->largest, largest);
  }
  if (const auto bound = shape().diameter_max()) {
    EXPECT_GE(*bound, largest);
  }
}

// Every cable joins routers that differ along one axis, as that axis is wired.
TEST_P(EveryGrid, AxesAreTheGraphs) {
  const auto axes = shape().axes();
  std::uint64_t product = 1;
  for (const GridAxis& axis : axes) product *= static_cast<std::uint64_t>(axis.size);
  ASSERT_EQ(product, routers());
  for (std::uint32_t r = 0; r < routers(); ++r) {
    const Coordinates from = coordinates(network_, RouterId(r));
    std::uint32_t stride = 1;
    std::uint32_t number = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      number += stride * static_cast<std::uint32_t>(from[d]);
      stride *= static_cast<std::uint32_t>(axes[d].size);
    }
    EXPECT_EQ(number, r);
    for (const Port& port : graph().ports(RouterId(r))) {
      if (!port.connected()) continue;
      const Coordinates to = coordinates(network_, port.peer);
      int differ = 0;
      for (std::size_t d = 0; d < axes.size(); ++d) {
        if (from[d] == to[d]) continue;
        ++differ;
        const int gap = std::abs(from[d] - to[d]);
        const bool wraps = axes[d].wiring == Wiring::ring && gap == axes[d].size - 1;
        EXPECT_TRUE(gap == 1 || wraps || axes[d].wiring == Wiring::complete);
      }
      EXPECT_EQ(differ, 1);
    }
  }
}

TEST_P(EveryLattice, PortsGoUpAndDown) {
  const Lattice* const lattice = shape().lattice();
  ASSERT_EQ(lattice->radix.size(), shape().axes().size());
  for (std::uint32_t r = 0; r < routers(); ++r) {
    Coordinates c = coordinates(network_, RouterId(r));
    for (int d = 0; d < lattice->dimensions(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      const Port& up = graph().ports(RouterId(r))[static_cast<std::size_t>(Lattice::up_port(d))];
      const int own = c[i];
      const bool edge = own == lattice->radix[i] - 1;
      ASSERT_EQ(up.connected(), !edge || lattice->wrap[i]);
      if (!up.connected()) continue;
      c[i] = edge ? 0 : own + 1;
      EXPECT_EQ(find_router(network_, c), up.peer);
      EXPECT_EQ(up.peer_port, Lattice::down_port(d));
      c[i] = own;
    }
  }
}

// Hints for cutting the network and for drawing it.
TEST_P(EveryKind, PartsAreWhatTheySay) {
  if (const SwitchTree* const tree = shape().tree()) {
    for (std::uint32_t r = 0; r < routers(); ++r)
      EXPECT_EQ(r < tree->leaves(), !graph().nodes_at(RouterId(r)).empty());
  }
  if (const RouterGroups* const groups = shape().groups()) {
    ASSERT_EQ(static_cast<std::uint32_t>(groups->size * groups->count), routers());
    const auto size = static_cast<std::uint32_t>(groups->size);
    for (std::uint32_t r = 0; r < routers(); ++r)
      for (std::uint32_t q = 0; q < size; ++q) {
        const std::uint32_t own = r % size;
        if (q == own) continue;
        EXPECT_EQ(graph().ports(RouterId(r))[q < own ? q : q - 1].peer.index, r - own + q);
      }
  }
  if (const auto blocks = shape().blocks()) {
    EXPECT_FALSE(blocks->word.empty());
    EXPECT_LE(blocks->routers, routers());
    EXPECT_EQ(blocks->routers % blocks->size, 0u);
    for (std::uint32_t r = blocks->routers; r < routers(); ++r)
      EXPECT_TRUE(graph().nodes_at(RouterId(r)).empty());
  }
}

std::vector<TopologyKind> kinds_that(bool (*answer)(const Shape& shape)) {
  std::vector<TopologyKind> kinds;
  for (const TopologyKind& kind : topology_kinds()) {
    if (kind.example.empty()) continue;
    const auto made = make_topology(kind.example);
    if (!made || answer(*made->shape)) kinds.push_back(kind);
  }
  return kinds;
}
std::string test_name(const testing::TestParamInfo<TopologyKind>& one) {
  std::string name(one.param.name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryKind,
                         testing::ValuesIn(kinds_that([](const Shape&) { return true; })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, EveryGrid, testing::ValuesIn(kinds_that([](const Shape& shape) {
                           return !shape.axes().empty();
                         })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, EveryLattice, testing::ValuesIn(kinds_that([](const Shape& shape) {
                           return shape.lattice() != nullptr;
                         })),
                         test_name);

}  // namespace
}  // namespace weft
