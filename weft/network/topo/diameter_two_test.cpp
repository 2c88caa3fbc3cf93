// SPDX-License-Identifier: Apache-2.0
// Slim Fly and PolarFly: what their papers state, against a search of the graph; and the fields
// that they are built on.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/galois_field.hpp>
#include <weft/network/topo/search.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {
namespace {

using detail::GaloisField;

Topology make(const std::string& spec) {
  auto made = make_topology(spec);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

std::string error_of(const std::string& spec) {
  const auto made = make_topology(spec);
  return made ? "no error" : made.error().text();
}

// Eccentricity by search, and no two cables between the same routers.
void expect_diameter_two(const Topology& t) {
  for (std::uint32_t r = 0; r < t.graph.router_count(); ++r) {
    const auto away = distances_from(t.graph, RouterId(r));
    EXPECT_EQ(*std::max_element(away.begin(), away.end()), 2) << t.name << " from " << r;
    EXPECT_GE(*std::min_element(away.begin(), away.end()), 0) << t.name << " from " << r;
    std::set<std::uint32_t> peers;
    for (const Port& p : t.graph.ports(RouterId(r))) EXPECT_TRUE(peers.insert(p.peer.index).second);
  }
}

TEST(GaloisField, KeepsTheLaws) {
  for (const int q : {2, 3, 4, 5, 7, 8, 9, 16, 25, 27}) {
    const GaloisField field(q);
    std::set<int> powers;
    for (int e = 0; e < q - 1; ++e) powers.insert(field.power(e));
    EXPECT_EQ(static_cast<int>(powers.size()), q - 1) << q;
    EXPECT_FALSE(powers.contains(0)) << q;
    for (int a = 0; a < q; ++a)
      for (int b = 0; b < q; ++b) {
        EXPECT_EQ(field.add(a, b), field.add(b, a));
        EXPECT_EQ(field.multiply(a, b), field.multiply(b, a));
        for (int c = 0; c < q; ++c) {
          EXPECT_EQ(field.multiply(a, field.add(b, c)),
                    field.add(field.multiply(a, b), field.multiply(a, c)));
          EXPECT_EQ(field.multiply(a, field.multiply(b, c)),
                    field.multiply(field.multiply(a, b), c));
        }
      }
  }
}

TEST(GaloisField, KnowsPrimePowers) {
  std::vector<int> found;
  for (int q = 0; q <= 32; ++q)
    if (detail::is_prime_power(q)) found.push_back(q);
  EXPECT_EQ(found,
            (std::vector<int>{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32}));
}

TEST(SlimFly, HasTheDegreeAndDiameterOfItsPaper) {
  for (const int q : {3, 4, 5, 7, 8, 9, 11, 13, 16, 17}) {
    const Topology t = make("slimfly:q=" + std::to_string(q) + ",p=1");
    const int delta = q % 4 == 3 ? -1 : q % 4;
    const Facts facts = find_facts(t);
    EXPECT_EQ(facts.routers, static_cast<std::uint32_t>(2 * q * q));
    EXPECT_EQ(facts.network_ports_min, (3 * q - delta) / 2) << q;
    EXPECT_EQ(facts.network_ports_max, (3 * q - delta) / 2) << q;
    expect_diameter_two(t);
  }
}

// Besta and Hoefler's example: 722 routers of degree 29 with 15 nodes each.
TEST(SlimFly, IsBalancedByDefault) {
  const Topology t = make("slimfly:q=19");
  EXPECT_EQ(t.name, "slimfly:q=19,p=15");
  EXPECT_EQ(t.graph.router_count(), 722u);
  EXPECT_EQ(t.graph.node_count(), 10830u);
  EXPECT_EQ(t.graph.ports(RouterId(0)).size(), 29u);
  EXPECT_EQ(make("slimfly:q=13,p=9").graph.node_count(), 338u * 9u);
}

TEST(SlimFly, NamesRoutersByHalfGroupAndPosition) {
  const Topology t = make("slimfly:q=5");
  EXPECT_EQ(router_name(t, RouterId(37)), "(1,2,2)");
  EXPECT_EQ(*find_router(t, "(1,2,2)"), RouterId(37));
  EXPECT_FALSE(find_router(t, "(2,0,0)"));
  EXPECT_FALSE(find_router(t, "(0,5,0)"));
}

TEST(PolarFly, HasTheDegreeAndDiameterOfItsPaper) {
  for (const int q : {2, 3, 4, 5, 7, 8, 9, 11, 13, 16}) {
    const Topology t = make("polarfly:q=" + std::to_string(q) + ",p=1");
    ASSERT_EQ(t.graph.router_count(), static_cast<std::uint32_t>(q * q + q + 1));
    int with_one_less = 0;
    for (std::uint32_t r = 0; r < t.graph.router_count(); ++r) {
      const int degree = static_cast<int>(t.graph.ports(RouterId(r)).size());
      EXPECT_TRUE(degree == q || degree == q + 1) << q;
      with_one_less += degree == q ? 1 : 0;
    }
    EXPECT_EQ(with_one_less, q + 1) << q;
    expect_diameter_two(t);
  }
}

TEST(PolarFly, IsBalancedByDefault) {
  const Topology t = make("polarfly:q=31");
  EXPECT_EQ(t.name, "polarfly:q=31,p=16");
  EXPECT_EQ(t.graph.router_count(), 993u);
}

TEST(DiameterTwo, RefusesWhatIsNoPrimePower) {
  EXPECT_EQ(error_of("slimfly:q=15"), "slimfly:q=15: q=15 is no prime power; 13 and 16 are");
  EXPECT_EQ(error_of("polarfly:q=6"), "polarfly:q=6: q=6 is no prime power; 5 and 7 are");
  EXPECT_EQ(error_of("slimfly:q=2"), "slimfly:q=2: 'q' is 2, but must be from 3 to 4096");
  EXPECT_EQ(error_of("slimfly:"), "slimfly:: 'q' is missing; write slimfly:q=N[,p=N]");
  EXPECT_NE(error_of("slimfly:q=2887").find("are possible"), std::string::npos);
  EXPECT_NE(error_of("polarfly:q=4093").find("are possible"), std::string::npos);
}

TEST(DiameterTwo, IsSearchedWhereACableIsDown) {
  Topology t = make("polarfly:q=3");
  t.graph = Graph::with_down(std::move(t.graph), std::vector{LinkId(0)});
  const Port& cut = t.graph.port(LinkId(0));
  EXPECT_GT(distance(t, RouterId(0), cut.peer), 1);
}

}  // namespace
}  // namespace weft
