// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/find.hpp"

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>
#include <weft/network/probe/compare.hpp>
#include <weft/network/probe/files.hpp>
#include <weft/network/probe/test_meter.hpp>

namespace weft::probe {
namespace {

Finding probe(TestMeter& meter, const TestTree& tree, Trials trials) {
  ProbeSettings settings;
  settings.hosts = tree.names();
  settings.trials = trials;
  return find_network(meter, settings);
}

Finding probe(const TestTree& tree, double noise, std::uint64_t seed, Trials trials) {
  TestMeter meter(tree, noise, seed);
  return probe(meter, tree, trials);
}

std::string differences_text(const Comparison& comparison) {
  std::string out;
  for (const std::string& line : comparison.differences) out += line + "\n";
  return out;
}

// Switches of one level below a first one without hosts.
TestTree star(int switches, int hosts, double latency_ns, double rate = 1e9) {
  TestTree tree;
  tree.add(-1, 0);
  for (int i = 0; i < switches; ++i) tree.add_hosts(tree.add(0, latency_ns, rate), hosts);
  return tree;
}

// Switches in a row with hosts on each; links are long compared with the hosts' own time.
TestTree chain_of_four() {
  TestTree tree;
  int at = tree.add(-1, 0);
  tree.host_ns = 1'600;
  tree.add_hosts(at, 4);
  for (int i = 0; i < 3; ++i) tree.add_hosts(at = tree.add(at, 45'000), 4);
  return tree;
}

TEST(Find, RandomTreesWithLowNoiseAreRight) {
  const Rng rng(test_seed());
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    Rng luck = rng.stream("tree", turn);
    TestTree tree = random_tree(luck, 10 + static_cast<std::uint32_t>(luck.below(990)));
    if (turn % 4 == 3) tree.shuffle(luck);
    const Finding found = probe(tree, 0.02, luck.next(), Trials::never);
    const Comparison result = compare(found, tree.topology());
    ASSERT_TRUE(result.right()) << replay_text(test_seed()) << " turn " << turn << "\n"
                                << differences_text(result);
    EXPECT_TRUE(found.complete);
    EXPECT_LT(found.contradicting, 0.1);
  }
}

// Names in order: a few round trips per host, however many there are.
TEST(Find, RoundTripsGrowWithHostsTimesTheirLogarithm) {
  for (const std::uint32_t hosts : {64u, 250u, 1000u}) {
    Rng luck(hosts);
    TestTree tree = random_tree(luck, hosts);
    const auto n = static_cast<double>(tree.on.size());
    const Finding ordered = probe(tree, 0.02, 1, Trials::never);
    EXPECT_LT(static_cast<double>(ordered.counts.round_trips), 1.5 * n * std::log2(n));
    tree.shuffle(luck);
    const Finding mixed = probe(tree, 0.02, 1, Trials::never);
    EXPECT_LT(static_cast<double>(mixed.counts.round_trips), 4 * n * std::log2(n));
  }
}

TEST(Find, HostsOnSwitchesInsideTheTree) {
  TestTree tree;  // A chain of switches with hosts on each, and a branch.
  int at = tree.add(-1, 0);
  tree.add_hosts(at, 4);
  for (int i = 0; i < 4; ++i) {
    at = tree.add(at, 5'000);
    tree.add_hosts(at, 3 + i);
  }
  tree.add_hosts(tree.add(2, 3'000), 5);
  const Finding found = probe(tree, 0.01, 3, Trials::automatic);
  const Comparison result = compare(found, tree.topology());
  EXPECT_TRUE(result.right()) << differences_text(result);
}

// A machine that has just been woken forwards the next packet sooner, so two links cost less than
// twice one. On a quiet network this is far above the noise, and yet no switch.
TEST(Find, DelaysThatDoNotAddUpMakeNoSwitch) {
  const TestTree tree = chain_of_four();
  for (const double more : {1'000.0, 2'000.0, 4'000.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      TestMeter meter(tree, 0.005, seed);
      meter.first_link_ns = more;
      const Comparison result = compare(probe(meter, tree, Trials::never), tree.topology());
      EXPECT_TRUE(result.right()) << more << " ns, seed " << seed << "\n"
                                  << differences_text(result);
    }
  }
}

// Hosts that measure at the same time share processors and links, so all of them take longer.
TEST(Find, MeasurementsThatDisturbEachOtherMakeNoSwitch) {
  const TestTree tree = chain_of_four();
  for (const double more : {2'000.0, 15'000.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      TestMeter meter(tree, 0.005, seed);
      meter.crowd_ns = more;
      const Comparison result = compare(probe(meter, tree, Trials::never), tree.topology());
      EXPECT_TRUE(result.right()) << more << " ns, seed " << seed << "\n"
                                  << differences_text(result);
    }
  }
}

// Racks at the far end of a long link are as close to each other as those at this end.
TestTree two_sites(int far_racks) {
  TestTree tree;
  tree.host_ns = 1'600;
  const int here = tree.add(-1, 0);
  tree.add_hosts(here, 4);
  tree.add_hosts(tree.add(here, 500), 4);
  const int there = tree.add(here, 20'000);
  for (int i = 0; i < far_racks; ++i) tree.add_hosts(tree.add(there, 500), 4);
  return tree;
}

TEST(Find, RacksBehindALongLink) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TestTree tree = two_sites(3);
    const Comparison result = compare(probe(tree, 0.001, seed, Trials::never), tree.topology());
    EXPECT_TRUE(result.right()) << "seed " << seed << "\n" << differences_text(result);
  }
}

TEST(Find, ANewRackBehindALongLink) {
  const Finding before = probe(two_sites(2), 0.001, 3, Trials::never);
  const TestTree tree = two_sites(3);
  TestMeter meter(tree, 0.001, 4);
  ProbeSettings settings;
  settings.hosts = tree.names();
  settings.trials = Trials::never;
  settings.earlier = &before;
  const Comparison result = compare(find_network(meter, settings), tree.topology());
  EXPECT_TRUE(result.right()) << differences_text(result);
}

TEST(Find, RandomTreesWhoseDelaysDoNotAddUp) {
  const Rng rng(test_seed());
  for (std::uint64_t turn = 0; turn < 40; ++turn) {
    Rng luck = rng.stream("woken", turn);
    const TestTree tree = random_tree(luck, 10 + static_cast<std::uint32_t>(luck.below(200)));
    TestMeter meter(tree, 0.005, luck.next());
    meter.first_link_ns = 100 + static_cast<double>(luck.below(400));
    const Comparison result = compare(probe(meter, tree, Trials::never), tree.topology());
    EXPECT_TRUE(result.right()) << replay_text(test_seed()) << " turn " << turn << "\n"
                                << differences_text(result);
  }
}

TEST(Find, OneSwitchHasNoJump) {
  TestTree tree;
  tree.add_hosts(tree.add(-1, 0), 20);
  const Finding found = probe(tree, 0.02, 3, Trials::automatic);
  EXPECT_EQ(found.switches.size(), 1u);
  EXPECT_TRUE(compare(found, tree.topology()).right());
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_NE(found.remarks[0].find("no jump"), std::string::npos);
}

TEST(Find, FewHosts) {
  for (int hosts = 1; hosts <= 3; ++hosts) {
    TestTree tree;
    tree.add_hosts(tree.add(-1, 0), hosts);
    const Finding found = probe(tree, 0.01, 5, Trials::automatic);
    EXPECT_TRUE(compare(found, tree.topology()).right());
  }
}

// Round robin over the switches: no neighbours in the list share a switch.
TEST(Find, NamesDealtOut) {
  TestTree tree = star(4, 8, 5'000);
  for (std::size_t i = 0; i < tree.on.size(); ++i) tree.on[i] = 1 + i % 4;
  const Finding found = probe(tree, 0.02, 7, Trials::automatic);
  const Comparison result = compare(found, tree.topology());
  EXPECT_TRUE(result.right()) << differences_text(result);
}

TEST(Find, ANoisyHostDoesNotDecide) {
  const TestTree tree = star(4, 8, 5'000);
  for (const std::uint32_t noisy : {0u, 1u, 12u, 31u}) {
    TestMeter meter(tree, 0.01, 7 + noisy);
    meter.extra_ns.assign(32, 0);
    meter.extra_ns[noisy] = 60'000;
    const Finding found = probe(meter, tree, Trials::never);
    for (std::uint32_t a = 0; a < 32; ++a)
      for (std::uint32_t b = 0; b < a; ++b) {
        if (a == noisy || b == noisy) continue;
        EXPECT_EQ(found.hosts[a].on == found.hosts[b].on, tree.on[a] == tree.on[b])
            << a << " " << b << ", noisy " << noisy;
      }
    EXPECT_LT(found.hosts[noisy].sure, 1) << noisy;
  }
}

// Links inside the tree add no delay; only flows that slow each other reveal them.
TEST(Find, FlowsTellWhatDelaysDoNot) {
  for (const double uplink : {1e9, 2e9}) {
    TestTree tree;
    tree.add(-1, 0);
    for (int i = 0; i < 3; ++i) {
      const int middle = tree.add(0, 0, uplink);
      for (int leaf = 0; leaf < 2; ++leaf) tree.add_hosts(tree.add(middle, 5'000, 1e9), 4);
    }
    const Finding found = probe(tree, 0.01, 3, Trials::automatic);
    const Comparison result = compare(found, tree.topology());
    EXPECT_EQ(result.right(), uplink < 2e9) << "no two flows fill the faster one\n"
                                            << differences_text(result);
    const auto switches = found.switches.size();
    EXPECT_LE(found.counts.trials, 3 * switches * switches);
  }
}

TEST(Find, RatesOfLinks) {
  TestTree tree;
  tree.add(-1, 0);
  tree.add_hosts(tree.add(0, 5'000, 1e9), 8);
  tree.add_hosts(tree.add(0, 5'000, 4e9), 8);
  tree.add_hosts(tree.add(0, 5'000, 100e9), 8);
  tree.add_hosts(tree.add(0, 5'000, 0.5e9), 8);
  const Finding found = probe(tree, 0.01, 3, Trials::automatic);
  ASSERT_TRUE(compare(found, tree.topology()).right());
  EXPECT_NEAR(found.host_bit_per_s, 1e9, 2e7);
  std::vector<std::pair<double, Filled>> rates;  // In the order of hosts; the base's link first.
  for (const std::uint32_t host : {0u, 8u, 16u, 24u}) {
    for (const LinkFound& link : found.links) {
      const bool first = host == 0 && link.a == found.hosts[0].on;
      if (first || link.b == found.hosts[host].on) {
        rates.emplace_back(link.rate_bit_per_s, link.filled);
        EXPECT_NEAR(link.latency_ns, 5'000, 300);
      }
    }
  }
  ASSERT_EQ(rates.size(), 4u);
  EXPECT_NEAR(rates[0].first, 1e9, 3e7);
  EXPECT_EQ(rates[0].second, Filled::full);
  EXPECT_NEAR(rates[1].first, 4e9, 1e8);
  EXPECT_EQ(rates[2].second, Filled::at_least) << "never filled";
  EXPECT_NEAR(rates[3].first, 0.5e9, 2e7);
  EXPECT_EQ(rates[3].second, Filled::full);
}

TEST(Find, TheTimeIsUp) {
  Rng luck(3);
  TestTree tree = random_tree(luck, 300);
  TestMeter meter(tree, 0.02, 1);
  ProbeSettings settings;
  settings.hosts = tree.names();
  settings.seconds_max = 0.6;
  const Finding found = find_network(meter, settings);
  EXPECT_FALSE(found.complete);
  EXPECT_LT(found.counts.seconds, 1.2);
  EXPECT_FALSE(found.remarks.empty());
  EXPECT_TRUE(read_graph_text(to_graph(found), "found").has_value());
}

TEST(Find, WhoCameAndWhoLeft) {
  const TestTree tree = star(6, 10, 5'000);
  TestMeter meter(tree, 0.01, 3);
  ProbeSettings first;
  first.hosts = tree.names();
  Finding before = find_network(meter, first);
  // Two hosts had other names before, so the new names arrive and the old ones have left.
  before.hosts[17].name = "gone";
  before.hosts[58].name = "gone too";
  TestMeter again(tree, 0.01, 4);
  ProbeSettings second = first;
  second.earlier = &before;
  const Finding found = find_network(again, second);
  const Comparison result = compare(found, tree.topology());
  EXPECT_TRUE(result.right()) << differences_text(result);
  EXPECT_LT(found.counts.round_trips, before.counts.round_trips / 4);
  EXPECT_EQ(found.counts.trials, 0u) << "all links were known";
}

TEST(Find, AnEarlierFindingThatIsWrongIsLeft) {
  const TestTree tree = star(6, 10, 5'000);
  TestMeter meter(tree, 0.01, 3);
  ProbeSettings settings;
  settings.hosts = tree.names();
  Finding before = find_network(meter, settings);
  std::reverse(before.hosts.begin() + 20, before.hosts.end());
  for (std::size_t i = 0; i < before.hosts.size(); ++i) before.hosts[i].name = settings.hosts[i];
  for (std::size_t i = 0; i < 60; i += 2) before.hosts[i].on = before.hosts[(i + 30) % 60].on;
  settings.earlier = &before;
  TestMeter again(tree, 0.01, 4);
  const Finding found = find_network(again, settings);
  EXPECT_TRUE(compare(found, tree.topology()).right());
}

// The distances in a ring fit no tree.
class RingMeter : public TestMeter {
 public:
  explicit RingMeter(const TestTree& tree) : TestMeter(tree, 0, 1), tree_(tree) {}
  std::vector<double> round_trips_ns(std::span<const Pair> pairs) override {
    std::vector<double> out;
    for (const Pair& pair : pairs) {
      const int apart =
          std::abs(static_cast<int>(tree_.on[pair.from]) - static_cast<int>(tree_.on[pair.to]));
      const int around = static_cast<int>(tree_.parent.size()) - 1;
      out.push_back(20'000 + 10'000.0 * std::min(apart, around - apart));
    }
    return out;
  }

 private:
  const TestTree& tree_;
};

TEST(Find, WhatIsNoTreeIsSaid) {
  const TestTree tree = star(12, 4, 5'000);
  RingMeter meter(tree);
  const Finding found = probe(meter, tree, Trials::never);
  EXPECT_TRUE(compare(found, tree.topology()).groups);
  EXPECT_GT(found.contradicting, 0.1);
  ASSERT_FALSE(found.remarks.empty());
  EXPECT_NE(found.remarks[0].find("fit"), std::string::npos);
}

TEST(Find, EveryHostOnItsOwnRouter) {
  const TestTree tree = star(12, 1, 5'000);
  RingMeter meter(tree);
  const Finding found = probe(meter, tree, Trials::never);
  EXPECT_FALSE(found.tree && found.contradicting < 0.1);
}

}  // namespace
}  // namespace weft::probe
