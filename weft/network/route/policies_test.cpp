// SPDX-License-Identifier: Apache-2.0
// What is known about the policies in closed form, and the errors of make_policy.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/network/route/conformance.hpp>
#include <weft/network/route/dimension_order.hpp>
#include <weft/network/route/path.hpp>
#include <weft/network/route/queue_rows.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

using Load = FakeView::Load;

// A packet that always gets its first choice.
struct Trace {
  std::vector<LinkId> links;
  std::vector<VcMask> vcs;
  int hops() const { return static_cast<int>(links.size()); }
};

struct Packet {
  NodeId from, to;
  std::uint64_t bits;
};

Trace trace(const Topology& t, const Policy& policy, FakeView& view, const Packet& packet) {
  Trace found;
  Flight flight{.destination = t.graph.router_of(packet.to),
                .state = packet.bits,
                .source_node = packet.from,
                .destination_node = packet.to};
  RouterId here = t.graph.router_of(packet.from);
  for (int hops = 0; hops <= policy.facts().hops_max; ++hops) {
    Choices choices;
    view.stand_at(here);
    policy.next(here, flight, view, choices);
    WEFT_CHECK(!choices.empty());
    const Choice& choice = choices[0];
    if (choice.port == Choice::eject) return found;
    found.links.push_back(t.graph.link(here, choice.port));
    found.vcs.push_back(choice.vcs);
    here = t.graph.port(found.links.back()).peer;
    flight.state = choice.state;
    flight.hops = static_cast<std::uint8_t>(std::min(hops + 1, 255));
  }
  WEFT_CHECK(false);
  return found;
}

std::unique_ptr<Policy> policy_of(std::string_view name, const Topology& t, int vcs) {
  auto made = make_policy(name, t, vcs);
  WEFT_CHECK(made.has_value());
  return std::move(*made);
}

double mean_hops(std::string_view name, std::string_view spec, int vcs, int packets) {
  const Topology t = test_network(spec);
  const auto policy = policy_of(name, t, vcs);
  FakeView view(t, Load::empty);
  Rng rng(3);
  std::int64_t sum = 0, count = 0;
  for (std::uint32_t s = 0; s < t.graph.node_count(); ++s)
    for (std::uint32_t d = 0; d < t.graph.node_count(); ++d)
      for (int i = 0; i < packets; ++i, ++count)
        sum += trace(t, *policy, view, {NodeId(s), NodeId(d), rng.next()}).hops();
  return static_cast<double>(sum) / static_cast<double>(count);
}

// What went out of one buffer to one destination says where the next one goes.
TEST(Dor, FollowersGoTheSameWay) {
  for (const std::string_view spec : {"torus:4x6", "torus:5x2x4", "mesh:4x3", "torus:8"}) {
    const Topology t = test_network(spec);
    const auto made = policy_of("dor", t, 4);
    ASSERT_NE(made->dimension_order(), nullptr) << spec;
    const detail::DimensionOrder& dor = *made->dimension_order();
    // By router, buffer (the link it came by, with its VCs; none: the card) and destination.
    std::map<std::array<std::uint64_t, 4>, Choice> sent;
    Rng rng(5);
    int followed = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto routers = t.graph.router_count();
      RouterId here(static_cast<std::uint32_t>(rng.below(routers)));
      const RouterId to(static_cast<std::uint32_t>(rng.below(routers)));
      std::uint64_t state = rng.next() & 0xffffffff, link = UINT64_MAX, vcs = 0;
      for (bool fresh = true; here != to; fresh = false) {
        const Choice choice =
            dor.straight(dor.places().word(here), dor.places().word(to), state, fresh);
        const auto [first, is_new] = sent.try_emplace({here.index, link, vcs, to.index}, choice);
        if (!is_new && dor.leads(first->second.state)) {
          EXPECT_EQ(choice.port, first->second.port) << spec;
          EXPECT_EQ(choice.vcs, first->second.vcs) << spec;
          EXPECT_EQ(choice.state, dor.follow(first->second.state, state)) << spec;
          ++followed;
        }
        link = t.graph.link(here, choice.port).index;
        vcs = choice.vcs;
        here = t.graph.port(LinkId(static_cast<std::uint32_t>(link))).peer;
        state = choice.state;
      }
    }
    EXPECT_GT(followed, 1000) << spec;
  }
}

TEST(Minimal, HopsAreTheDistance) {
  for (const std::string_view name :
       {"dor", "dor-balanced", "xy-yx", "xy-yx-adaptive", "planar-adaptive",
        "planar-adaptive-booksim", "min-adaptive", "min-adaptive-booksim", "minimal", "source-up",
        "dest-down", "adaptive-up", "shortest"})
    for (const std::string_view spec : test_network_specs()) {
      const Topology t = test_network(spec);
      // A dragonfly's `minimal` crosses one global cable; two without local hops can be shorter.
      if (t.shape->groups() != nullptr && name == "minimal") continue;
      const auto policy = make_policy(name, t, 12);
      if (!policy) continue;
      FakeView view(t, Load::random);
      Rng rng(1);
      for (int i = 0; i < 2000; ++i) {
        const NodeId from(static_cast<std::uint32_t>(rng.below(t.graph.node_count())));
        const NodeId to(static_cast<std::uint32_t>(rng.below(t.graph.node_count())));
        ASSERT_EQ(trace(t, **policy, view, {from, to, rng.next()}).hops(),
                  distance(t, t.graph.router_of(from), t.graph.router_of(to)))
            << name << " on " << spec;
      }
    }
}

// Mean over all pairs, a node to itself included: a line of k has (k^2-1)/(3k), a ring k/4 for even
// k and (k^2-1)/(4k) for odd.
TEST(Dor, MeanHops) {
  EXPECT_DOUBLE_EQ(mean_hops("dor", "mesh:8x8", 1, 1), 2 * 63.0 / 24);
  EXPECT_DOUBLE_EQ(mean_hops("dor", "torus:8x8", 2, 1), 4.0);
  EXPECT_DOUBLE_EQ(mean_hops("dor", "torus:5x4", 2, 1), 24.0 / 20 + 1);
}

TEST(Dor, HalfWayGoesEitherWayByCoin) {
  const Topology t = test_network("ring:8");
  const auto policy = policy_of("dor", t, 2);
  FakeView view(t, Load::empty);
  Rng rng(5);
  int up = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Trace way = trace(t, *policy, view, {NodeId(1), NodeId(5), rng.next()});
    ASSERT_EQ(way.hops(), 4);
    const bool goes_up = way.links[0] == t.graph.link(RouterId(1), 0);
    up += goes_up ? 1 : 0;
    // Up it does not wrap: lower half. Down it wraps: lower half.
    for (const VcMask vcs : way.vcs) ASSERT_EQ(vcs, 1u);
  }
  EXPECT_NEAR(up, 5000, 200);  // Four standard deviations.
}

TEST(Dor, HalfIsChosenOnEnteringARingAndKept) {
  const Topology t = test_network("torus:8x8");
  const auto policy = policy_of("dor", t, 6);
  FakeView view(t, Load::empty);
  const auto node = [](std::uint32_t x, std::uint32_t y) { return NodeId(x + 8 * y); };
  const VcMask lower = 0b000111, upper = 0b111000;
  using Masks = std::vector<VcMask>;
  // x 6 to 1 goes up and wraps: upper, also after the wrap. y 1 to 3 goes up without: lower.
  EXPECT_EQ(trace(t, *policy, view, {node(6, 1), node(1, 3), 0}).vcs,
            (Masks{upper, upper, upper, lower, lower}));
  // x 1 to 6 goes down and wraps: lower. y 3 to 1 goes down without: upper.
  EXPECT_EQ(trace(t, *policy, view, {node(1, 3), node(6, 1), 0}).vcs,
            (Masks{lower, lower, lower, upper, upper}));
}

TEST(Dor, TakesAnyVcWhereNothingWraps) {
  const Topology t = test_network("cube:4x4,wrap=10");
  const auto policy = policy_of("dor", t, 4);
  FakeView view(t, Load::empty);
  EXPECT_EQ(trace(t, *policy, view, {NodeId(0), NodeId(1 + 4), 0}).vcs,
            (std::vector<VcMask>{0b0011, 0b1111}));
}

TEST(Dor, FactsSayWhenOrderIsKept) {
  const auto in_order = [](std::string_view spec, int vcs) {
    const Topology t = test_network(spec);
    return policy_of("dor", t, vcs)->facts().in_order;
  };
  EXPECT_TRUE(in_order("mesh:4x4", 1));
  EXPECT_FALSE(in_order("mesh:4x4", 2));  // Two VCs of one link: packets may overtake.
  EXPECT_TRUE(in_order("torus:5x3", 2));
  EXPECT_FALSE(in_order("torus:5x4", 2));  // Half-way by coin.
}

TEST(Facts, SayWhenAllPacketsOfAPairTakeOnePath) {
  const auto one_path = [](const char* routing, std::string_view spec, int vcs) {
    const Topology t = test_network(spec);
    return policy_of(routing, t, vcs)->facts().one_path;
  };
  EXPECT_TRUE(one_path("dor", "mesh:4x4", 2));
  EXPECT_FALSE(one_path("dor", "torus:5x4", 2));
  EXPECT_TRUE(one_path("minimal", "dragonfly:a=4,h=2,p=2", 6));
  EXPECT_TRUE(one_path("minimal", "hyperx:3x4", 4));
  EXPECT_TRUE(one_path("dest-down", "fattree:k=3,levels=2", 4));
  EXPECT_FALSE(one_path("adaptive-up", "fattree:k=3,levels=2", 1));
  EXPECT_TRUE(one_path("up-down", "torus:4x4", 3));
  EXPECT_FALSE(one_path("valiant", "dragonfly:a=4,h=2,p=2", 6));
}

TEST(Facts, SayWhenOneQuestionIsEnough) {
  const auto alike = [](const char* routing, std::string_view spec, int vcs) {
    return policy_of(routing, test_network(spec), vcs)->facts().alike;
  };
  EXPECT_TRUE(alike("minimal", "dragonfly:a=4,h=2,p=2", 2));
  EXPECT_TRUE(alike("minimal", "hyperx:3x4", 2));
  EXPECT_TRUE(alike("source-up", "fattree:k=3,levels=2", 2));
  EXPECT_FALSE(alike("adaptive-up", "fattree:k=3,levels=2", 2));
  EXPECT_FALSE(alike("dor", "torus:4x4", 2));
}

// The ports of a row, by their queues and else in the row's order, are the choices.
TEST(FatTree, RowsSayTheSameAsChoices) {
  for (const std::string_view spec : {"fattree:k=3,levels=3", "fattree:k=20,levels=2"}) {
    const Topology t = test_network(spec);
    const auto policy = policy_of("adaptive-up", t, 2);
    const detail::QueueRows* const rows = policy->queue_rows();
    ASSERT_NE(rows, nullptr);
    FakeView view(t, Load::random, 5);
    int found = 0;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const RouterId here(i * 7 % t.graph.router_count());
      const NodeId to(i * 11 % t.graph.node_count());
      const Flight flight{.destination = t.graph.router_of(to),
                          .state = mix(i),
                          .source_node = NodeId(0),
                          .destination_node = to};
      detail::QueueRow row;
      if (!rows->find(here, flight, row)) continue;
      ++found;
      EXPECT_LE(row.count, rows->longest());
      view.stand_at(here);
      std::vector<std::uint16_t> ports;
      for (std::uint32_t place = 0; place < row.count; ++place)
        ports.push_back(static_cast<std::uint16_t>(row.first + (row.begin + place) % row.count));
      std::stable_sort(ports.begin(), ports.end(), [&](std::uint16_t a, std::uint16_t b) {
        return view.queued(a) < view.queued(b);
      });
      Choices choices;
      policy->next(here, flight, view, choices);
      ASSERT_EQ(choices.count(), std::min<int>(row.count, Choices::capacity));
      for (int c = 0; c < choices.count(); ++c) {
        EXPECT_EQ(choices[c].port, ports[static_cast<std::size_t>(c)]);
        EXPECT_EQ(choices[c].vcs, row.vcs);
        EXPECT_EQ(choices[c].state, row.state);
      }
    }
    EXPECT_GT(found, 50) << spec;
  }
}

// With the word "up" there is no coin: one path, and both ways round being as long, the upper one.
TEST(Dor, UpGoesUpHalfWay) {
  for (const std::string_view spec : {"ring:8", "torus:4x6", "torus:5x2x4", "cube:4x4,wrap=10"}) {
    const Topology t = test_network(spec);
    const auto policy = policy_of("dor:up", t, 2);
    FakeView view(t, Load::empty);
    const Lattice& cube = *t.shape->lattice();
    Rng rng(5);
    for (std::uint32_t s = 0; s < t.graph.node_count(); ++s)
      for (std::uint32_t d = 0; d < t.graph.node_count(); ++d) {
        const Trace way = trace(t, *policy, view, {NodeId(s), NodeId(d), 0});
        for (int i = 0; i < 4; ++i)
          ASSERT_EQ(trace(t, *policy, view, {NodeId(s), NodeId(d), rng.next()}).links, way.links);
        ASSERT_EQ(way.hops(), distance(t, RouterId(s), RouterId(d))) << spec;
        const Coordinates a = coordinates(t, RouterId(s)), b = coordinates(t, RouterId(d));
        std::vector<LinkId> wanted;
        Coordinates at = a;
        for (std::size_t i = 0; i < at.size(); ++i) {
          const int radix = cube.radix[i];
          const int ahead = (b[i] - a[i] + radix) % radix;
          const bool up = cube.wrap[i] ? 2 * ahead <= radix : b[i] > a[i];
          for (; at[i] != b[i]; at[i] = (at[i] + (up ? 1 : radix - 1)) % radix)
            wanted.push_back(
                t.graph.link(*find_router(t, at), static_cast<int>(2 * i) + (up ? 0 : 1)));
        }
        ASSERT_EQ(way.links, wanted) << spec << ": " << s << " to " << d;
      }
  }
}

TEST(Dor, UpKeepsTheOrderWhereACoinDoesNot) {
  const Topology t = test_network("torus:5x4");
  EXPECT_TRUE(policy_of("dor:up", t, 2)->facts().in_order);
  EXPECT_FALSE(policy_of("dor:coin", t, 2)->facts().in_order);
}

TEST(Dor, ManyDimensionsAndLongOnes) {
  for (const std::string_view spec : {"torus:3x3x3x3x3x3x3x3", "mesh:4x2x3x2x4x2x3x2x2x2",
                                      "mesh:65535x2", "cube:65534x3,wrap=11", "hypercube:17"}) {
    const Topology t = test_network(spec);
    const auto policy = policy_of("dor", t, 2);
    FakeView view(t, Load::empty);
    Rng rng(9);
    for (int i = 0; i < 20; ++i) {
      const NodeId from(static_cast<std::uint32_t>(rng.below(t.graph.node_count())));
      const NodeId to(static_cast<std::uint32_t>(rng.below(t.graph.node_count())));
      ASSERT_EQ(trace(t, *policy, view, {from, to, rng.next()}).hops(),
                distance(t, t.graph.router_of(from), t.graph.router_of(to)))
          << spec;
    }
  }
}

TEST(DorBalanced, UsesBothHalvesWhereItMay) {
  const Topology t = test_network("ring:8");
  const auto policy = policy_of("dor-balanced", t, 2);
  FakeView view(t, Load::empty);
  const auto halves_of = [&](std::uint32_t from, std::uint32_t to) {
    std::set<VcMask> seen;
    for (std::uint64_t bits = 0; bits < 64; ++bits)
      seen.insert(trace(t, *policy, view, {NodeId(from), NodeId(to), bits}).vcs[0]);
    return seen;
  };
  EXPECT_EQ(halves_of(0, 2), (std::set<VcMask>{1, 2}));
  EXPECT_EQ(halves_of(2, 5), (std::set<VcMask>{1}));  // Across the middle, between 3 and 4.
  EXPECT_EQ(halves_of(6, 1), (std::set<VcMask>{2}));  // Wraps, going up.
  EXPECT_EQ(halves_of(1, 6), (std::set<VcMask>{2}));  // Wraps, going down.
  EXPECT_EQ(halves_of(7, 5), (std::set<VcMask>{1, 2}));
}

TEST(XyYx, OrderByCoinOrByRoom) {
  const Topology t = test_network("mesh:4x4");
  FakeView view(t, Load::empty);
  const auto by_coin = policy_of("xy-yx", t, 2);
  const Trace xy = trace(t, *by_coin, view, {NodeId(0), NodeId(5), 0});
  const Trace yx = trace(t, *by_coin, view, {NodeId(0), NodeId(5), 1});
  EXPECT_EQ(xy.links[0], t.graph.link(RouterId(0), Lattice::up_port(0)));
  EXPECT_EQ(yx.links[0], t.graph.link(RouterId(0), Lattice::up_port(1)));
  EXPECT_EQ(xy.vcs[0], 1u);
  EXPECT_EQ(yx.vcs[0], 2u);

  // Where the view says x has less room the coin does not matter.
  const auto by_room = policy_of("xy-yx-adaptive", t, 2);
  int differ = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    FakeView loaded(t, Load::random, seed);
    loaded.stand_at(RouterId(0));
    const auto room = [&](int port) { return loaded.free(port, 0) + loaded.free(port, 1); };
    if (room(Lattice::up_port(0)) == room(Lattice::up_port(1))) continue;
    const int freer = room(Lattice::up_port(0)) > room(Lattice::up_port(1)) ? 0 : 1;
    ++differ;
    for (const std::uint64_t coin : {0u, 1u})
      ASSERT_EQ(trace(t, *by_room, loaded, {NodeId(0), NodeId(5), coin}).links[0],
                t.graph.link(RouterId(0), Lattice::up_port(freer)));
  }
  EXPECT_GT(differ, 20);
}

TEST(MinAdaptive, OrderOfChoices) {
  const Topology t = test_network("torus:8x8");
  FakeView view(t, Load::empty);
  view.stand_at(RouterId(0));
  const auto ask = [&](std::string_view name) {
    Choices choices;
    policy_of(name, t, 4)->next(RouterId(0), {.destination = RouterId(2 + 8 * 3)}, view, choices);
    return choices;
  };
  const Choices last = ask("min-adaptive");
  ASSERT_EQ(last.count(), 3);
  EXPECT_EQ(last[0].port, Lattice::up_port(0));
  EXPECT_EQ(last[0].vcs, 0b1100u);
  EXPECT_EQ(last[1].port, Lattice::up_port(1));
  EXPECT_TRUE(last[2].escape);
  EXPECT_EQ(last[2].vcs, 0b0001u);
  // BookSim keeps one direction, and VC 2 is left out.
  const Choices first = ask("min-adaptive-booksim");
  ASSERT_EQ(first.count(), 2);
  EXPECT_TRUE(first[0].escape);
  EXPECT_EQ(first[1].port, Lattice::up_port(0));
  EXPECT_EQ(first[1].vcs, 0b1000u);
}

TEST(MinAdaptive, BooksimFromTheEscapeAndHalfWay) {
  const Topology t = test_network("torus:8x8");
  FakeView view(t, Load::empty);
  view.stand_at(RouterId(0));
  const auto ask = [&](int vcs, const Flight& flight) {
    Choices choices;
    policy_of("min-adaptive-booksim", t, vcs)->next(RouterId(0), flight, view, choices);
    return choices;
  };
  const Choices half_way = ask(4, {.destination = RouterId(4)});
  ASSERT_EQ(half_way.count(), 2);
  EXPECT_EQ(half_way[1].port, Lattice::down_port(0));
  const Choices escaped =
      ask(4, {.destination = RouterId(4), .hops = 1, .state = half_way[0].state});
  ASSERT_EQ(escaped.count(), 1);
  EXPECT_TRUE(escaped[0].escape);
  EXPECT_EQ(ask(3, {.destination = RouterId(1)})[1].vcs, 0b100u);
  EXPECT_EQ(ask(8, {.destination = RouterId(1)})[1].vcs, 0b1000u);
}

TEST(PlanarAdaptive, BooksimKeepsXOnly) {
  const Topology t = test_network("mesh:8x8");
  FakeView view(t, Load::empty);
  const auto ask = [&](std::uint32_t from) {
    Choices choices;
    view.stand_at(RouterId(from));
    policy_of("planar-adaptive-booksim", t, 3)
        ->next(RouterId(from), {.destination = RouterId(2 + 8 * 3)}, view, choices);
    EXPECT_EQ(choices.count(), 1);
    EXPECT_EQ(choices[0].vcs, 0b100u);
    return choices[0].port;
  };
  EXPECT_EQ(ask(0), Lattice::up_port(0));
  EXPECT_EQ(ask(2), Lattice::up_port(1));
}

// Both legs go to a router drawn from all, so each has the mean distance of all pairs.
TEST(Valiant, MeanHops) {
  EXPECT_NEAR(mean_hops("valiant", "mesh:8x8", 2, 20), 2 * 5.25, 0.05);
  EXPECT_NEAR(mean_hops("valiant", "torus:8x8", 4, 20), 2 * 4.0, 0.05);
  EXPECT_NEAR(mean_hops("valiant", "hyperx:4x4", 2, 200), 2 * 1.5, 0.03);
}

TEST(UgalL, IdleIsStraightAndAFullFirstPortDetours) {
  EXPECT_DOUBLE_EQ(mean_hops("ugal-l", "mesh:8x8", 2, 1), 5.25);
  EXPECT_DOUBLE_EQ(mean_hops("ugal-l", "torus:8x8", 4, 1), 4.0);

  // Detours happen, and only where queue times hops says so.
  const Topology t = test_network("complete:5");
  const auto policy = policy_of("ugal-l", t, 2);
  int detours = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    FakeView view(t, Load::random, seed);
    const Trace way = trace(t, *policy, view, {NodeId(0), NodeId(4), mix(seed)});
    if (way.hops() == 1) continue;
    ++detours;
    view.stand_at(RouterId(0));
    const int port = static_cast<int>(way.links[0].index);  // Router 0's links come first.
    ASSERT_GT(view.queued(3).count, 2 * view.queued(port).count);
  }
  EXPECT_GT(detours, 10);
}

// What is under way on a link at its full rate is no queue.
TEST(UgalL, DoesNotDetourFromALinkThatFlows) {
  const Topology t = test_network("complete:5");
  const auto policy = policy_of("ugal-l", t, 2);
  int before = 0, after = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    FakeView view(t, Load::random, seed);
    const auto detours = [&] {
      return trace(t, *policy, view, {NodeId(0), NodeId(4), mix(seed)}).hops() > 1 ? 1 : 0;
    };
    before += detours();
    view.stand_at(RouterId(0));
    view.set_flowing(view.queued(3));
    after += detours();
  }
  EXPECT_GT(before, 10);
  EXPECT_EQ(after, 0);
}

TEST(Dragonfly, MinimalIsLocalGlobalLocal) {
  for (const std::string_view spec :
       {"dragonfly:a=4,h=2,p=2", "dragonfly:a=4,h=2,p=1,g=4", "dragonfly:a=2,h=3,p=1,g=2"}) {
    const Topology t = test_network(spec);
    const RouterGroups shape = *t.shape->groups();
    const auto policy = policy_of("minimal", t, 2);
    FakeView view(t, Load::empty);
    for (std::uint32_t s = 0; s < t.graph.node_count(); ++s)
      for (std::uint32_t d = 0; d < t.graph.node_count(); ++d) {
        const Trace way = trace(t, *policy, view, {NodeId(s), NodeId(d), 0});
        int globals = 0;
        for (const LinkId link : way.links) globals += t.graph.port(link).link_class == 1 ? 1 : 0;
        const auto group = [&](std::uint32_t n) {
          return t.graph.router_of(NodeId(n)).index / static_cast<std::uint32_t>(shape.size);
        };
        ASSERT_EQ(globals, group(s) != group(d) ? 1 : 0);
        ASSERT_LE(way.hops(), 3);
        const int shortest =
            distance(t, t.graph.router_of(NodeId(s)), t.graph.router_of(NodeId(d)));
        // Two global cables without a local hop are shorter, and not what minimal means here.
        ASSERT_TRUE(way.hops() == shortest || shortest == 2);
      }
  }
}

// In a full tree, a shift permutation meets no conflict on any link under d-mod-k (Zahavi), and
// under s-mod-k neither.
TEST(FatTree, ShiftsDoNotConflict) {
  for (const std::string_view spec : {"fattree:k=4,levels=3", "fattree:k=2,levels=4"}) {
    const Topology t = test_network(spec);
    FakeView view(t, Load::empty);
    const std::uint32_t nodes = t.graph.node_count();
    for (const std::string_view name : {"dest-down", "source-up"}) {
      const auto policy = policy_of(name, t, 1);
      for (std::uint32_t shift = 1; shift < nodes; ++shift) {
        std::set<LinkId> used;
        for (std::uint32_t n = 0; n < nodes; ++n)
          for (const LinkId link :
               trace(t, *policy, view, {NodeId(n), NodeId((n + shift) % nodes), 0}).links)
            ASSERT_TRUE(used.insert(link).second) << name << " on " << spec << " by " << shift;
      }
    }
  }
}

TEST(FatTree, AdaptiveUpSpreadsWhenIdleAndTakesTheLeastQueued) {
  const Topology t = test_network("fattree:k=4,levels=2");
  const auto policy = policy_of("adaptive-up", t, 1);
  FakeView idle(t, Load::empty);
  std::set<LinkId> used;
  Rng rng(2);
  for (int i = 0; i < 200; ++i)
    used.insert(trace(t, *policy, idle, {NodeId(0), NodeId(15), rng.next()}).links[0]);
  EXPECT_EQ(used.size(), 4u);
  FakeView loaded(t, Load::random, 4);
  loaded.stand_at(RouterId(0));
  Choices choices;
  policy->next(RouterId(0), {.destination = RouterId(3), .state = 77}, loaded, choices);
  ASSERT_EQ(choices.count(), 4);
  for (int i = 1; i < 4; ++i)
    EXPECT_LE(loaded.queued(choices[i - 1].port).count, loaded.queued(choices[i].port).count);
}

TEST(UpDown, LargeGraphsAreRefused) {
  const Topology t = test_network("torus:32x32x32");
  const auto made = make_policy("up-down", t, 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(),
            "routing 'up-down' on torus:32x32x32 would need tables of 2048 MiB, more than the 1024 "
            "MiB allowed; use a policy made for the family of the network");
}

// A tenth of the cables broken, all routers still connected.
Topology broken_cube(std::string_view spec, std::uint64_t seed) {
  const Topology whole = test_network(spec);
  Rng rng(seed);
  for (;;) {
    std::vector<LinkId> links;
    for (std::uint32_t i = 0; i < whole.graph.cable_count() / 10 + 1; ++i)
      links.push_back(LinkId(static_cast<std::uint32_t>(rng.below(whole.graph.link_count()))));
    Topology broken = break_cables(whole, links);
    bool connected = true;
    for (std::uint32_t r = 1; r < broken.graph.router_count(); ++r)
      connected &= distance(broken, RouterId(0), RouterId(r)) >= 0;
    if (connected && !broken.graph.all_up()) return broken;
  }
}

// As `dor` where its path is whole; and never longer than what is left allows.
TEST(DorAround, TakesDimensionOrderOrTheShortestPathThatIsLeft) {
  for (const std::string_view spec : {"mesh:5x4", "mesh:3x3x3", "torus:5x5", "torus:4x4x3"})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Topology t = broken_cube(spec, seed);
      const int vcs = vcs_needed("dor-around:up", t);
      ASSERT_LE(vcs, 5) << spec;
      const auto around = policy_of("dor-around:up", t, vcs);
      const auto dor = policy_of("dor:up", t, 2);
      std::vector<LinkId> links, ordered;
      int detours = 0;
      for (std::uint32_t a = 0; a < t.graph.node_count(); ++a)
        for (std::uint32_t b = 0; b < t.graph.node_count(); ++b) {
          ASSERT_TRUE(follow_path(*around, t.graph, NodeId(a), NodeId(b), links));
          ASSERT_EQ(static_cast<int>(links.size()),
                    distance(t, t.graph.router_of(NodeId(a)), t.graph.router_of(NodeId(b))));
          if (follow_path(*dor, t.graph, NodeId(a), NodeId(b), ordered))
            ASSERT_EQ(links, ordered);
          else
            ++detours;
        }
      EXPECT_GT(detours, 0) << spec;
    }
}

// Only what would have crossed the cable takes another way, one hop longer, in the same VCs.
TEST(Minimal, GoesRoundACableThatIsDown) {
  for (const std::string_view spec : {"hyperx:4x3,p=2", "complete:5", "dragonfly:a=4,h=2,p=2"}) {
    const Topology whole = test_network(spec);
    const Topology broken = break_cables(whole, {LinkId(0)});
    EXPECT_EQ(vcs_needed("minimal", broken), vcs_needed("minimal", whole));
    const auto before = *make_policy("minimal", whole, vcs_needed("minimal", whole));
    const auto after = *make_policy("minimal", broken, vcs_needed("minimal", whole));
    EXPECT_EQ(before->facts().in_order, after->facts().in_order);
    int longer = 0;
    const std::uint32_t nodes = whole.graph.node_count();
    for (std::uint32_t a = 0; a < nodes; ++a)
      for (std::uint32_t b = 0; b < nodes; ++b) {
        std::vector<LinkId> then, now;
        ASSERT_TRUE(follow_path(*before, whole.graph, NodeId(a), NodeId(b), then));
        ASSERT_TRUE(follow_path(*after, broken.graph, NodeId(a), NodeId(b), now));
        const auto is_down = [&](LinkId l) { return !broken.graph.port(l).usable(); };
        if (std::any_of(then.begin(), then.end(), is_down)) {
          EXPECT_EQ(now.size(), then.size() + 1) << spec;
          ++longer;
        } else {
          EXPECT_EQ(now, then) << spec << " " << a << " " << b;
        }
      }
    EXPECT_GT(longer, 0) << spec;
  }
}

TEST(NoWay, NamesTheCableAndThePoliciesThatWork) {
  const Topology t = break_cables(test_network("torus:4x4"), {LinkId(0)});
  EXPECT_EQ(explain_no_way(t, RouterId(0), NodeId(1)),
            "no way from (0,0) to n1 under this routing: the cable (0,0)-(1,0) is down; these go "
            "round: dor-around, min-adaptive, valiant, ugal-l, shortest, up-down");
  const Topology fly =
      break_cables(test_network("dragonfly:a=2,h=3,p=1,g=2"), {LinkId(1), LinkId(2), LinkId(3)});
  EXPECT_NE(explain_no_way(fly, RouterId(0), NodeId(3)).find("the cables g0"), std::string::npos)
      << explain_no_way(fly, RouterId(0), NodeId(3));
}

TEST(MakePolicy, ErrorsSayWhatToDo) {
  const Topology torus = test_network("torus:8x8");
  const auto message = [&](std::string_view name, int vcs) {
    const auto made = make_policy(name, torus, vcs);
    return made ? std::string() : made.error().message();
  };
  EXPECT_EQ(message("dor", 1),
            "routing 'dor' on torus:8x8 needs at least 2 VCs to be free of deadlock, 1 given; set "
            "vcs = 2, or use up-down");
  EXPECT_EQ(message("valiannt", 4), "unknown routing 'valiannt'; did you mean 'valiant'?");
  EXPECT_EQ(message("dest-down", 4),
            "routing 'dest-down' does not fit torus:8x8; fitting: dor, dor-balanced, dor-around, "
            "min-adaptive, "
            "min-adaptive-booksim, rca-1d, crossline, foresight, valiant, ugal-l, "
            "shortest, up-down");
  EXPECT_EQ(message("dor", 33), "at most 32 VCs are supported, 33 given; set vcs = 32 or less");
}

}  // namespace
}  // namespace weft
