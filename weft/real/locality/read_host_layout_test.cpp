// SPDX-License-Identifier: Apache-2.0
// Reads the machines in testdata and checks the decisions. The XML files are hwloc's; the text
// files are what --show-topology prints.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/host_plan.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/test_interfaces.hpp>

namespace weft::locality {
namespace {

std::string data(const std::string& name) {
  return std::string(WEFT_TEST_DATA) + "/" + name;
}

HostLayout layout_of(const std::string& name) {
  auto layout = read_host_layout(data(name + ".xml"));
  EXPECT_TRUE(layout) << layout.error().text();
  return layout ? *std::move(layout) : flat_host_layout({});
}

std::string nodes_of(const HostLayout& layout, const std::string& name) {
  const Nic* found = find_nic(layout, name);
  return found == nullptr ? "no such card" : list_to_text(found->nodes);
}

TEST(ReadHostLayout, FindsNodesCoresAndThreads) {
  const HostLayout layout = layout_of("two_sockets_card_each");
  ASSERT_EQ(layout.nodes.size(), 2u);
  EXPECT_EQ(layout.nodes[0].memory, (Bytes{std::int64_t{192} << 30}));
  EXPECT_EQ(layout.nodes[1].socket, 1);
  ASSERT_EQ(layout.nodes[1].cores.size(), 8u);
  EXPECT_EQ(layout.nodes[1].cores[0].cpus, (std::vector<int>{8, 24}));
  EXPECT_EQ(list_to_text(cpus_of(layout.nodes[0])), "0-7,16-23");
  EXPECT_EQ(layout.distances, (std::vector<std::vector<int>>{{10, 21}, {21, 10}}));
}

TEST(ReadHostLayout, FindsCardsOfBothKinds) {
  const HostLayout layout = layout_of("two_sockets_card_each");
  ASSERT_EQ(layout.nics.size(), 4u);
  EXPECT_EQ(nodes_of(layout, "ens1f0"), "0");
  EXPECT_EQ(nodes_of(layout, "mlx5_1"), "1");
  EXPECT_TRUE(find_nic(layout, "mlx5_1")->openfabrics);
  EXPECT_FALSE(find_nic(layout, "ens2f0")->openfabrics);
  EXPECT_EQ(find_nic(layout, "ens2f0")->bus, "0000:b2:00.0");
  EXPECT_NEAR(find_nic(layout, "ens2f0")->link.in_byte_per_s(), 15.75e9, 1e7);
}

TEST(ReadHostLayout, GuessesLinksFromSlots) {
  EXPECT_NEAR(layout_of("two_sockets_card_each").memory_rate.in_byte_per_s(), 31.5e9, 1e8);
  EXPECT_EQ(layout_of("one_node").memory_rate, least_memory_rate);
}

TEST(ReadHostLayout, AssumesDistancesThatAreNotTold) {
  const HostLayout layout = layout_of("memory_only_nodes");
  ASSERT_EQ(layout.nodes.size(), 4u);
  EXPECT_EQ(distance(layout, 0, 0), near_distance);
  EXPECT_EQ(distance(layout, 0, 3), far_distance);
}

TEST(ReadHostLayout, GivesCoresToOneOfTwoMemories) {
  const HostLayout layout = layout_of("memory_only_nodes");
  EXPECT_EQ(layout.nodes[0].cores.size(), 4u);
  EXPECT_TRUE(layout.nodes[1].cores.empty());
  EXPECT_EQ(nodes_of(layout, "ens5"), "2-3");
}

TEST(ReadHostLayout, FindsCardsOfAQuarterSocket) {
  const HostLayout layout = layout_of("eight_nodes_two_cards");
  EXPECT_EQ(layout.nodes.size(), 8u);
  EXPECT_EQ(layout.nodes[5].socket, 1);
  EXPECT_EQ(nodes_of(layout, "ibs1"), "1");
  EXPECT_EQ(nodes_of(layout, "ibs2"), "6");
  EXPECT_EQ(distance(layout, 0, 3), 12);
  EXPECT_EQ(distance(layout, 0, 4), 32);
}

TEST(ReadHostLayout, TravelsAsText) {
  for (const char* name :
       {"two_sockets_card_each", "two_sockets_cards_on_second", "four_sockets_two_cards",
        "eight_nodes_two_cards", "one_node", "memory_only_nodes"}) {
    const HostLayout layout = layout_of(name);
    EXPECT_EQ(*parse_host_layout(to_text(layout)), layout) << name;
  }
}

TEST(ReadHostLayout, ReadsThisOne) {
  const auto layout = read_host_layout();
  ASSERT_TRUE(layout) << layout.error().text();
  std::vector<int> cpus = cpus_of(*layout);
  std::sort(cpus.begin(), cpus.end());
  EXPECT_EQ(cpus, cpus_of_this_process());
}

TEST(ReadHostLayout, SaysWhatIsWrongWithAFile) {
  const auto absent = read_host_layout("/nowhere/x.xml");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message().find("'/nowhere/x.xml'"), std::string::npos);
  const std::string path = test_file("broken.xml");
  ASSERT_TRUE(write_file(path, "<topology><object type=\"Mach"));
  EXPECT_FALSE(read_host_layout(path));
}

struct Case {
  const char* layout;
  const char* golden;  // In testdata.
  HostRequest request;
  std::vector<Interface> interfaces;
};

std::vector<Interface> cards(const std::vector<std::string>& names, int speed_gbit) {
  std::vector<Interface> list = {loopback()};
  for (std::size_t i = 0; i < names.size(); ++i)
    list.push_back(card(names[i], "10." + std::to_string(i + 1) + ".0.1/16", speed_gbit));
  return list;
}

std::vector<Case> cases() {
  const auto request = [](int ranks, std::optional<Binding> binding = {}) {
    return HostRequest{
        .ranks = ranks, .rails = {}, .cards = {}, .binding = binding, .machine_file = ""};
  };
  const std::vector<std::string> four = {"enp134s0", "enp150s0", "enp166s0", "enp182s0"};
  HostRequest verbs = request(16);
  verbs.cards = {"mlx5_0", "mlx5_1"};
  return {
      {"two_sockets_card_each", "two_sockets_card_each", request(4),
       cards({"ens1f0", "ens2f0"}, 100)},
      {"two_sockets_cards_on_second", "two_sockets_cards_on_second", request(6), cards(four, 100)},
      {"two_sockets_cards_on_second", "one_rank_near_cards", request(1, Binding::near_nic),
       cards(four, 100)},
      {"four_sockets_two_cards", "four_sockets_two_cards", request(2, Binding::near_nic),
       cards({"eno1", "eno2"}, 10)},
      {"eight_nodes_two_cards", "eight_nodes_two_cards", request(2), cards({"ibs1", "ibs2"}, 200)},
      {"eight_nodes_two_cards", "eight_nodes_verbs", verbs, cards({}, 0)},
      {"four_sockets_two_cards", "oversubscribed", request(17), cards({"eno1", "tap0"}, 10)},
      {"memory_only_nodes", "memory_only_nodes", request(8, Binding::core), cards({"ens5"}, 0)},
      {"one_node", "one_node", request(2), cards({"eth0"}, 1)}};
}

// WEFT_BLESS=1 rewrites the files; read the difference afterwards.
TEST(Explain, TellsEveryDecision) {
  for (const Case& one : cases()) {
    const auto plan = plan_host(one.request, one.interfaces, layout_of(one.layout));
    ASSERT_TRUE(plan) << plan.error().text();
    const std::string path = data(std::string(one.golden) + ".txt");
    const bool bless = std::getenv("WEFT_BLESS") != nullptr;
    ASSERT_TRUE(!bless || write_file(path, plan->explain()).has_value());
    const auto golden = read_file(path);
    ASSERT_TRUE(golden) << golden.error().text();
    EXPECT_EQ(plan->explain(), *golden) << one.golden;
  }
}

TEST(PlanHost, TellsEachRankItsPlace) {
  for (const Case& one : cases()) {
    const auto plan = plan_host(one.request, one.interfaces, layout_of(one.layout));
    ASSERT_TRUE(plan);
    for (int rank = 0; rank < one.request.ranks; ++rank) {
      const std::string text = plan->text_for(rank);
      if (text.empty()) continue;
      const auto here = parse_process_place(text);
      ASSERT_TRUE(here) << text;
      EXPECT_EQ(here->place, plan->places.ranks[static_cast<std::size_t>(rank)]);
      EXPECT_EQ(here->rails, plan->places.rails);
    }
  }
}

TEST(PlanHost, WorksOnThisHost) {
  const auto plan = plan_host(HostRequest{});
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->places.ranks.size(), 1u);
  EXPECT_FALSE(plan->explain().empty());
}

TEST(PlanHost, RefusesWhatCannotBeMet) {
  EXPECT_FALSE(plan_host(HostRequest{
      .ranks = 1, .rails = {"no-such-card"}, .cards = {}, .binding = {}, .machine_file = ""}));
  EXPECT_FALSE(plan_host(HostRequest{
      .ranks = 1, .rails = {}, .cards = {}, .binding = {}, .machine_file = "/nowhere/x.xml"}));
}

}  // namespace
}  // namespace weft::locality
