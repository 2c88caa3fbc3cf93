// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/places.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/test_interfaces.hpp>
#include <weft/real/locality/test_layouts.hpp>

namespace weft::locality {
namespace {

RailSite site(const std::string& name, std::vector<int> nodes, int speed_gbit = 100) {
  const int buffers = nodes.empty() ? -1 : nodes.front();
  return {name, std::move(nodes), buffers, Rate::gbit_per_s(speed_gbit)};
}

// "0:0-3 1:4-7": home node and processors of each rank.
std::string text_of(const HostPlaces& places) {
  std::string text;
  for (const RankPlace& place : places.ranks)
    text += (text.empty() ? "" : " ") + std::to_string(place.node) + ":" + list_to_text(place.cpus);
  return text;
}

std::string decided(const HostLayout& layout, std::vector<RailSite> rails, int ranks,
                    std::optional<Binding> request = {}) {
  return text_of(decide_places(layout, std::move(rails), ranks, request));
}

TEST(Binding, HasNames) {
  for (const Binding binding : {Binding::none, Binding::core, Binding::numa, Binding::near_nic})
    EXPECT_EQ(*parse_binding(to_text(binding)), binding);
  EXPECT_EQ(parse_binding("near_card").error().message(),
            "unknown binding 'near_card'; did you mean 'near-card'?");
}

TEST(DecidePlaces, BindsToNodesWhereThereAreSeveral) {
  const HostLayout layout = test_layout({2, 1, 4, 1});
  EXPECT_EQ(decided(layout, {}, 2), "0:0-3 1:4-7");
  EXPECT_EQ(decided(layout, {}, 3), "0:0-3 1:4-7 1:4-7");
  EXPECT_EQ(decided(layout, {}, 4), "0:0-3 0:0-3 1:4-7 1:4-7");
  EXPECT_EQ(decided(layout, {}, 8), "0:0-3 0:0-3 0:0-3 0:0-3 1:4-7 1:4-7 1:4-7 1:4-7");
}

TEST(DecidePlaces, LeavesFewRanksAllProcessors) {
  EXPECT_EQ(decided(test_layout({2, 1, 4, 1}), {}, 1), "0:0-7");
  EXPECT_EQ(decided(test_layout({2, 1, 4, 1}), {site("eth0", {1})}, 1), "1:0-7");
  EXPECT_EQ(decided(test_layout({2, 4, 2, 1}), {}, 2), "0:0-7 4:8-15");
  EXPECT_EQ(decided(test_layout({2, 4, 2, 1}), {site("a", {1}), site("b", {6})}, 2),
            "1:0-7 6:8-15");
}

TEST(DecidePlaces, DoesNotBindWithoutReason) {
  EXPECT_EQ(decided(test_layout({1, 1, 4, 1}), {}, 2), "-1:- -1:-");
  EXPECT_EQ(decided(test_layout({2, 1, 1, 1}), {}, 3), "-1:- -1:- -1:-");
  EXPECT_EQ(decided(test_layout({2, 1, 1, 1}), {}, 3, Binding::core), "-1:- -1:- -1:-");
  EXPECT_EQ(decided(test_layout({2, 1, 1, 1}), {}, 0), "");
}

TEST(DecidePlaces, SpreadsCores) {
  const HostLayout layout = test_layout({2, 1, 2, 2});
  EXPECT_EQ(decided(layout, {}, 1, Binding::core), "0:0-1");
  EXPECT_EQ(decided(layout, {}, 2, Binding::core), "0:0-1 1:4-5");
  EXPECT_EQ(decided(layout, {}, 4, Binding::core), "0:0-1 0:2-3 1:4-5 1:6-7");
  EXPECT_EQ(decided(layout, {}, 8, Binding::core), "0:0 0:1 0:2 0:3 1:4 1:5 1:6 1:7");
}

TEST(DecidePlaces, GoesNearTheCards) {
  const HostLayout four = test_layout({4, 1, 2, 1});
  const std::vector<RailSite> rails = {site("a", {1}), site("b", {3}), site("c", {3})};
  EXPECT_EQ(decided(four, rails, 1, Binding::near_nic), "3:6-7");
  EXPECT_EQ(decided(four, rails, 2, Binding::near_nic), "1:2-3 3:6-7");
  EXPECT_EQ(decided(four, rails, 3, Binding::near_nic), "0:0-1 1:2-3 3:6-7");
  EXPECT_EQ(decided(four, rails, 4, Binding::near_nic), decided(four, rails, 4, Binding::numa));
  EXPECT_EQ(decided(four, {site("x", {})}, 1, Binding::near_nic), "0:0-1");
}

TEST(DecidePlaces, CountsProcessorsOfUnequalNodes) {
  HostLayout layout = test_layout({2, 1, 6, 1});
  const std::vector<int> allowed = {0, 1, 6, 7, 8, 9, 10, 11};
  layout = keep_cpus(layout, allowed);
  EXPECT_EQ(decided(layout, {}, 4), "0:0-1 1:6-11 1:6-11 1:6-11");
}

TEST(DecidePlaces, PassesOverNodesWithoutProcessors) {
  HostLayout layout = test_layout({3, 1, 2, 1});
  layout.nodes[1].cores.clear();
  EXPECT_EQ(decided(layout, {}, 2), "0:0-1 2:4-5");
  layout.nodes[2].cores.clear();
  EXPECT_EQ(decided(layout, {}, 2), "-1:- -1:-");
}

TEST(LocateRails, AsksCardsThenInterfaces) {
  HostLayout layout = test_layout({2, 2, 2, 1});
  layout.nics = {{"eth0", false, {3}, "", Rate()}, {"eth1", false, {2, 3}, "", Rate()}};
  layout.nodes[3].memory = {};
  const std::vector<Interface> rails = {
      card("eth0", "10.1.0.1/24", 10, 1), card("eth1", "10.2.0.1/24"),
      card("vlan7", "10.3.0.1/24", 25, 1), card("tap0", "10.4.0.1/24"),
      card("odd", "10.5.0.1/24", 1, 9)};
  const std::vector<RailSite> sites = locate_rails(layout, rails);
  // Node 3 has no memory; node 2 is next to it.
  EXPECT_EQ(sites[0], (RailSite{"eth0", {3}, 2, Rate::gbit_per_s(10)}));
  EXPECT_EQ(sites[1], (RailSite{"eth1", {2, 3}, 2, Rate()}));
  EXPECT_EQ(sites[2], (RailSite{"vlan7", {1}, 1, Rate::gbit_per_s(25)}));
  EXPECT_EQ(sites[3], (RailSite{"tap0", {}, -1, Rate()}));
  EXPECT_EQ(sites[4], (RailSite{"odd", {}, -1, Rate::gbit_per_s(1)}));
}

using Weights = std::vector<double>;

void expect_near(const Weights& weights, const Weights& expected) {
  ASSERT_EQ(weights.size(), expected.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(weights[i], expected[i], 1e-9 * std::max(1.0, expected[i])) << i;
}

TEST(WeighRails, FollowsRatesWhenMemoryIsNear) {
  const HostLayout layout = test_layout({2, 1, 2, 1});
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {0})};
  expect_near(weigh_rails(Weights{3e9, 1e9}, 0, layout, rails), {0.75, 0.25});
}

TEST(WeighRails, LeavesSlowRailsAlone) {
  const HostLayout layout = test_layout({2, 1, 2, 1});
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {1})};
  expect_near(weigh_rails(Weights{125e6, 125e6}, 0, layout, rails), {0.5, 0.5});
}

// Worked out by hand: the link has 20 GB/s * 10 / 20 = 10 GB/s.
TEST(WeighRails, SharesTheLinkBetweenSockets) {
  HostLayout layout = test_layout({2, 1, 2, 1});
  layout.distances = {{10, 20}, {20, 10}};
  const std::vector<RailSite> one_each = {site("a", {0}), site("b", {1})};
  expect_near(weigh_rails(Weights{40e9, 40e9}, 0, layout, one_each), {0.8, 0.2});
  expect_near(weigh_rails(Weights{40e9, 40e9}, 1, layout, one_each), {0.2, 0.8});
  const std::vector<RailSite> three = {site("a", {0}), site("b", {1}), site("c", {1})};
  expect_near(weigh_rails(Weights{10e9, 10e9, 10e9}, 0, layout, three), {0.5, 0.25, 0.25});
  expect_near(weigh_rails(Weights{10e9, 10e9, 10e9}, 1, layout, three), {1 / 3., 1 / 3., 1 / 3.});
}

TEST(LowerRates, SaysWhatRemains) {
  HostLayout layout = test_layout({2, 1, 2, 1});
  layout.distances = {{10, 20}, {20, 10}};
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {1}), site("c", {1})};
  expect_near(lower_rates(Weights{12e9, 12e9, 8e9}, 0, layout, rails), {12e9, 6e9, 4e9});
  expect_near(lower_rates(Weights{12e9, 5e9, 5e9}, 0, layout, rails), {12e9, 5e9, 5e9});
  expect_near(lower_rates(Weights{12e9, -1, 12e9}, 0, layout, rails), {12e9, 0, 10e9});
}

TEST(WeighRails, IsNotAppliedTwice) {
  HostLayout layout = test_layout({2, 1, 2, 1});
  layout.distances = {{10, 20}, {20, 10}};
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {1})};
  const Weights first = weigh_rails(Weights{40e9, 40e9}, 0, layout, rails);
  expect_near(weigh_rails(Weights{40e9, 10e9}, 0, layout, rails), first);
}

TEST(WeighRails, KnowsOneLinkBetweenSocketsOfManyNodes) {
  HostLayout layout = test_layout({2, 2, 2, 1});
  layout.memory_rate = Rate::gbyte_per_s(21);
  // 10 GB/s in total to the other socket; 17.5 GB/s to the neighbour within the socket.
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {1}), site("c", {2}),
                                       site("d", {3})};
  expect_near(weigh_rails(Weights{20e9, 20e9, 20e9, 20e9}, 0, layout, rails),
              {20 / 47.5, 17.5 / 47.5, 5 / 47.5, 5 / 47.5});
}

TEST(WeighRails, CountsUnknownAsNear) {
  const HostLayout layout = test_layout({2, 1, 2, 1});
  const std::vector<RailSite> rails = {site("a", {}), site("b", {1})};
  expect_near(weigh_rails(Weights{40e9, 40e9}, -1, layout, rails), {0.5, 0.5});
  expect_near(weigh_rails(Weights{40e9, 40e9}, 7, layout, rails), {0.5, 0.5});
  EXPECT_GT(weigh_rails(Weights{40e9, 40e9}, 0, layout, rails)[0], 0.5);
}

TEST(WeighRails, GivesDeadRailsNothing) {
  const HostLayout layout = test_layout({2, 1, 2, 1});
  const std::vector<RailSite> rails = {site("a", {0}), site("b", {1})};
  expect_near(weigh_rails(Weights{0, 1e9}, 0, layout, rails), {0, 1});
  expect_near(weigh_rails(Weights{0, 0}, 0, layout, rails), {0.5, 0.5});
  EXPECT_TRUE(weigh_rails({}, 0, layout, {}).empty());
}

TEST(ProcessPlace, TravelsAsText) {
  HostLayout layout = test_layout({2, 2, 4, 2});
  layout.nics = {{"eth0", false, {1}, "0000:3b:00.0", Rate::gbit_per_s(126)}};
  const HostPlaces places = decide_places(layout, {site("eth0", {1}), site("tap0", {}, 0)}, 6, {});
  for (int rank = 0; rank < 6; ++rank) {
    const ProcessPlace here = process_place(layout, places, rank);
    EXPECT_TRUE(cpus_of(here.layout).empty());
    const std::string text = to_text(here);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto read = parse_process_place(text);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, here);
  }
}

TEST(ProcessPlace, RefusesBrokenText) {
  const std::string layout = ";node 0 0 1;distances 10";
  EXPECT_TRUE(parse_process_place("place none -1 -" + layout));
  for (const char* text : {"", "place none -1", "place odd -1 -", "place none -2 -",
                           "place none 0 x", "rail eth0 0 0 0", "place none -1 -;rail eth0 0 0",
                           "place none -1 -;rail eth0 0 0 -1", "place none -1 -;rail eth0 0 x 0"})
    EXPECT_FALSE(parse_process_place(text + layout)) << text;
  EXPECT_FALSE(parse_process_place("place none -1 -"));
}

struct Draw {
  HostLayout layout;
  std::vector<RailSite> rails;
  int ranks = 0;
};

Draw draw(Rng& rng) {
  const auto some = [&](std::uint64_t most) { return static_cast<int>(1 + rng.below(most)); };
  Draw made;
  made.layout = test_layout({some(4), some(4), some(6), some(2)});
  std::vector<int> allowed = cpus_of(made.layout);
  if (rng.coin()) std::erase_if(allowed, [&](int) { return rng.below(3) == 0; });
  if (allowed.empty()) allowed = {0};
  made.layout = keep_cpus(made.layout, allowed);
  const auto rails = static_cast<int>(rng.below(5));
  for (int i = 0; i < rails; ++i) {
    std::vector<int> nodes;
    if (rng.below(4) != 0) nodes.push_back(static_cast<int>(rng.below(made.layout.nodes.size())));
    made.rails.push_back(site("r" + std::to_string(i), nodes, some(400)));
  }
  made.ranks = some(allowed.size() + 2);
  return made;
}

// Every rank gets existing processors, and no processor is given twice while there are enough.
void check_places(const Draw& made, Binding request) {
  const HostPlaces places = decide_places(made.layout, made.rails, made.ranks, request);
  const std::vector<int> cpus = cpus_of(made.layout);
  const std::set<int> known(cpus.begin(), cpus.end());
  ASSERT_EQ(places.ranks.size(), static_cast<std::size_t>(made.ranks));
  if (places.ranks.size() > cpus.size()) {
    EXPECT_EQ(places.binding, Binding::none);
    return;
  }
  std::map<int, int> users;
  for (const RankPlace& place : places.ranks) {
    ASSERT_FALSE(place.cpus.empty());
    ASSERT_NE(find_node(made.layout, place.node), nullptr);
    for (const int cpu : place.cpus) {
      ASSERT_TRUE(known.contains(cpu));
      ++users[cpu];
    }
  }
  for (const auto& [cpu, count] : users) ASSERT_TRUE(request != Binding::core || count == 1) << cpu;
  for (const NumaNode& node : made.layout.nodes) {
    const std::vector<int> own = cpus_of(node);
    const auto ranks = own.empty() ? 0 : users[own.front()];
    // A node's ranks fit on its processors, up to one due to rounding.
    ASSERT_LE(ranks, static_cast<int>(own.size()) + 1);
  }
}

TEST(DecidePlaces, KeepsItsPromisesOnAnyHost) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    const Draw made = draw(rng);
    SCOPED_TRACE(std::to_string(made.ranks) + " ranks on " + to_text(made.layout));
    for (const Binding request : {Binding::core, Binding::numa, Binding::near_nic})
      check_places(made, request);
  }
}

TEST(WeighRails, IsPositiveAndSumsToOne) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (int round = 0; round < 2000; ++round) {
    const Draw made = draw(rng);
    if (made.rails.empty()) continue;
    Weights rates;
    for (const RailSite& rail : made.rails) rates.push_back(rail.speed.in_byte_per_s());
    const int memory = static_cast<int>(rng.below(made.layout.nodes.size() + 1)) - 1;
    const Weights weights = weigh_rails(rates, memory, made.layout, made.rails);
    for (const double weight : weights) ASSERT_GT(weight, 0);
    ASSERT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
  }
}

}  // namespace
}  // namespace weft::locality
