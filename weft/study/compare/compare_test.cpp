// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/base/text.hpp>
#include <weft/study/compare/table.hpp>

namespace weft::compare {
namespace {

constexpr double link = 25e9;  // Bytes per second of the links below.

NetworkFacts facts_of(const std::string& net, const std::vector<std::string>& more = {},
                      const Prices& prices = example_prices()) {
  MachineWords words;
  words.net = net;
  words.sets = {"link.rate=25 GB/s"};
  words.sets.insert(words.sets.end(), more.begin(), more.end());
  const auto reader = MachineReader::open(words);
  EXPECT_TRUE(reader) << reader.error().text();
  auto facts = find_network_facts(*reader, prices);
  EXPECT_TRUE(facts) << net << ": " << facts.error().text();
  return *std::move(facts);
}

// On a ring of k, k even, uniform traffic to all k nodes loads a link with k/8 of what a node
// sends; nothing goes to the sender itself here, so k/8 N/(N-1).
TEST(Compare, CapacityOfATorusIsTheClosedForm) {
  for (const int k : {4, 8, 16}) {
    const NetworkFacts f = facts_of("torus:" + std::to_string(k) + "x4");
    const double nodes = 4 * k;
    const double load = k / 8.0 * nodes / (nodes - 1);
    EXPECT_NEAR(f.capacity.uniform, link / std::max(1.0, load), 1) << k;
    EXPECT_TRUE(f.capacity.uniform_exact);
  }
}

// A ring of 8: the worst shift is by 3, tornado, which loads links of one direction with 3. Shifts
// by 4 go both ways, 2 each.
TEST(Compare, TornadoIsTheWorstShiftOfARing) {
  const NetworkFacts f = facts_of("ring:8");
  EXPECT_NEAR(f.capacity.worst_permutation, link / 3, 1) << f.capacity.worst_name;
  EXPECT_GE(f.capacity.permutations_tried, 7U + 10U);
}

TEST(Compare, ACompleteGraphIsLimitedByItsNodes) {
  const NetworkFacts f = facts_of("complete:8");
  EXPECT_NEAR(f.capacity.uniform, link, 1);
  EXPECT_NEAR(f.capacity.worst_permutation, link, 1);
  EXPECT_EQ(f.shape.distance->diameter, 1);
  EXPECT_EQ(f.parts.switches, (std::map<int, std::uint64_t>{{8, 8}}));  // 7 cables and a node.
  // Two nodes for each cable to another router: a permutation can fill all of them.
  const NetworkFacts two = facts_of("complete:8,p=2");
  EXPECT_NEAR(two.capacity.worst_permutation, link / 2, 1);
  // 16 nodes, one way 8 · 8 pairs over 4 · 4 cables.
  EXPECT_NEAR(two.bisection_per_node, 16 * link / 8, 1);
}

TEST(Compare, AFullFatTreeCarriesUniformTrafficAtTheRateOfItsNodes) {
  const NetworkFacts f = facts_of("fattree:radix=8,levels=2");
  EXPECT_EQ(f.shape.nodes, 32U);
  EXPECT_EQ(f.parts.switches, (std::map<int, std::uint64_t>{{8, 12}}));
  EXPECT_NEAR(f.capacity.uniform, link, link / 50);
  EXPECT_EQ(f.parts.cards, 32U);
  // Half of the cables upwards: half of what leaves a leaf switch.
  const NetworkFacts tapered = facts_of("fattree:radix=36,levels=2,taper=2");
  EXPECT_LT(tapered.capacity.uniform, 0.6 * link);
}

TEST(Compare, ASlowClassOfCablesLimits) {
  const NetworkFacts even = facts_of("dragonfly:a=4,h=2,p=2");
  const NetworkFacts slow = facts_of("dragonfly:a=4,h=2,p=2", {"link.global.rate=5 GB/s"});
  EXPECT_LT(slow.capacity.uniform, 0.5 * even.capacity.uniform);
  EXPECT_NEAR(slow.bisection_per_node, even.bisection_per_node / 5, 1);
}

// Card, cable, router, cable, ..., card: every part once, as the description says.
TEST(Compare, LatencyIsTheSumOfTheParts) {
  const std::vector<std::string> sets = {"router.flit=25 B",
                                         "router.route=10 ns",
                                         "router.vc_alloc=20 ns",
                                         "router.switch_alloc=30 ns",
                                         "router.switch_delay=40 ns",
                                         "link.delay=7 ns",
                                         "nic.delay=3 ns",
                                         "nic.inject_delay=50 ns",
                                         "nic.eject_delay=60 ns"};
  const NetworkFacts f = facts_of("ring:4", sets);
  const auto expected = [](int hops) { return 50 + 3 + (hops + 1) * 100 + hops * 7 + 3 + 60 + 1; };
  EXPECT_TRUE(f.latency.exact);
  EXPECT_NEAR(f.latency.most_ns, expected(2), 1);
  EXPECT_NEAR(f.latency.mean_ns, (2 * expected(1) + expected(2)) / 3.0, 1);
}

TEST(Compare, CablesAreCountedByLengthAndKind) {
  const auto prices = read_prices_text(
      "currency = \"EUR\"\n[switch.16]\nprice = 1000\nwatts = 100\n[cable.copper]\nreach = \"3 "
      "m\"\n"
      "price = 10\n[cable.optical]\nprice = 100\nprice_per_metre = 2\n[card]\nprice = 50\n",
      "p.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  const NetworkFacts f =
      facts_of("dragonfly:a=4,h=1,p=1",
               {"link.local.length=2 m", "link.global.length=20 m", "nic.length=1 m"}, *prices);
  // 5 groups of 4: 6 local cables in each, 10 global ones, 20 nodes.
  EXPECT_EQ(f.cost.cables_by_kind,
            (std::map<std::string, std::uint64_t>{{"copper", 30 + 20}, {"optical", 10}}));
  EXPECT_DOUBLE_EQ(f.cost.cables, 50 * 10 + 10 * (100 + 20 * 2));
  EXPECT_DOUBLE_EQ(f.cost.switches, 20 * 1000);
  EXPECT_DOUBLE_EQ(f.cost.cards, 20 * 50);
  EXPECT_DOUBLE_EQ(f.cost.watts, 20 * 100);
  EXPECT_FALSE(f.cost.assumed_length);
}

// Cables to nodes have a key of their own: the length of others says nothing about them.
TEST(Compare, CablesWithoutALengthAreAsLongAsThePricesSay) {
  const auto prices = read_prices_text(
      "[switch.16]\nprice = 1\n[cable]\nlength = \"2 m\"\n[cable.copper]\nreach = \"3 m\"\n"
      "price = 10\n[cable.optical]\nprice = 100\n[card]\nprice = 1\n",
      "p.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  const auto look = [&](const std::vector<std::string>& sets) {
    const NetworkFacts f = facts_of("torus:4x4", sets, *prices);
    std::string text = to_text(std::vector{f}, *prices);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return std::pair(f, text);
  };
  using Kinds = std::map<std::string, std::uint64_t>;
  for (const auto& [key, kinds] : {std::pair{"", Kinds{{"copper", 32 + 16}}},
                                   {"link.length=2 m", Kinds{{"copper", 32 + 16}}},
                                   {"link.length=9 m", Kinds{{"copper", 16}, {"optical", 32}}},
                                   {"nic.length=9 m", Kinds{{"copper", 32}, {"optical", 16}}}}) {
    const auto [f, text] =
        look(*key == '\0' ? std::vector<std::string>{} : std::vector{std::string(key)});
    EXPECT_EQ(f.cost.cables_by_kind, kinds) << key;
    EXPECT_NE(text.find("count as 2 m ([cable] length of p.toml)"), std::string::npos) << text;
    EXPECT_NE(text.find("  of 2 m "), std::string::npos) << key << text;
    EXPECT_EQ(text.find("  of 5 m "), std::string::npos) << key << text;
  }
  const auto [all, text] = look({"link.length=9 m", "nic.length=1 m"});
  EXPECT_EQ(all.cost.cables_by_kind, (Kinds{{"copper", 16}, {"optical", 32}}));
  EXPECT_EQ(text.find("count as"), std::string::npos) << text;
}

TEST(Compare, TableJsonAndCsvTellTheSame) {
  const std::vector<NetworkFacts> networks = {facts_of("torus:4x4"), facts_of("complete:16")};
  const Prices& prices = example_prices();
  const std::string text = to_text(networks, prices);
  EXPECT_NE(text.find("cost (example prices)"), std::string::npos) << text;
  EXPECT_NE(text.find("The prices are examples"), std::string::npos);
  EXPECT_NE(text.find("tried"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(networks, prices));
  EXPECT_TRUE(json["prices"]["examples"]);
  ASSERT_EQ(json["networks"].size(), 2U);
  EXPECT_EQ(json["networks"][0]["nodes"], 16);
  EXPECT_EQ(json["networks"][0]["bisection_cables"], 8);
  const std::string csv = to_csv(networks, prices);
  const auto lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 4U) << csv;  // The last is empty.
  EXPECT_EQ(split(lines[0], ',').size(), split(lines[1], ',').size());
  EXPECT_TRUE(lines[0].starts_with(
      "network,profile,routing,link_rate_bytes_per_s,router_latency_ns,nodes,"))
      << csv;
  EXPECT_TRUE(lines[2].starts_with("complete:16,")) << csv;
}

TEST(Compare, SaysWhatCapacityAndPricesRestOn) {
  const std::string capacity = "no collisions", rate = "Prices do not depend on the rate";
  const std::string ports = "as the smallest switch that has its ports: 24 ports for 5, 16.";
  const std::string length =
      "(link.length, link.CLASS.length, nic.length) count as 5 m ([cable] length of ";
  const auto notes_of = [](const std::vector<NetworkFacts>& networks, const Prices& prices) {
    std::string all;
    const auto json = nlohmann::json::parse(to_json(networks, prices));
    for (const auto& note : json.at("notes")) {
      all += note.get<std::string>() + "\n";
      std::string text = to_text(networks, prices);
      std::replace(text.begin(), text.end(), '\n', ' ');  // The table wraps its lines.
      EXPECT_NE(text.find(note.get<std::string>()), std::string::npos) << text;
    }
    return all;
  };
  const std::string all =
      notes_of({facts_of("torus:4x4"), facts_of("complete:16")}, example_prices());
  for (const std::string& words : {capacity, rate, ports, length})
    EXPECT_NE(all.find(words), std::string::npos) << all;

  const auto exact = read_prices_text(
      "[switch.5]\nprice = 1\n[cable.any]\nprice = 1\n[card]\nprice = 1\n", "p.toml");
  ASSERT_TRUE(exact) << exact.error().text();
  const std::string few =
      notes_of({facts_of("torus:4x4", {"link.length=2 m", "nic.length=2 m"}, *exact)}, *exact);
  EXPECT_EQ(few.find("smallest switch"), std::string::npos) << few;
  EXPECT_EQ(few.find("count as"), std::string::npos) << few;
  EXPECT_EQ(few.find("examples"), std::string::npos) << few;
  // A length for cables between routers says nothing about a class without one.
  const std::string some =
      notes_of({facts_of("dragonfly:a=4,h=1,p=1", {"link.global.length=20 m"})}, example_prices());
  EXPECT_NE(some.find("count as 5 m"), std::string::npos) << some;
}

// The capacity is that of shortest paths; where the routing leaves them, the table says so.
TEST(Compare, DetoursAreMarked) {
  const std::string words = "Counted along shortest paths, but this routing also takes detours";
  const auto table_of = [](const std::string& net, const std::string& routing) {
    const NetworkFacts facts = facts_of(net, {"routing.policy=" + routing});
    return to_text(std::vector{facts}, example_prices());
  };
  for (const char* const net :
       {"dragonfly:a=4,h=2,p=2", "hyperx:4x4,p=4", "torus:4x4", "slimfly:q=5", "complete:8"}) {
    for (const char* const routing : {"ugal-l", "valiant"}) {
      const std::string table = table_of(net, routing);
      EXPECT_NE(table.find(" GB/s *\n"), std::string::npos) << net << " " << routing << table;
      EXPECT_NE(table.find(words), std::string::npos) << net << " " << routing << table;
    }
    for (const char* const routing : {"min-adaptive", "shortest"}) {
      const std::string table = table_of(net, routing);
      EXPECT_EQ(table.find('*'), std::string::npos) << net << " " << routing << table;
    }
  }
  EXPECT_EQ(table_of("fattree:radix=8,levels=2", "adaptive-up").find('*'), std::string::npos);
}

TEST(Compare, BrokenNetworksAreRefused) {
  MachineWords words;
  words.net = "mesh:2";
  words.sets = {"network.down=[\"(0)-(1)\"]"};
  const auto reader = MachineReader::open(words);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_FALSE(find_network_facts(*reader, example_prices()));
}

}  // namespace
}  // namespace weft::compare
