// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/files.hpp"

#include <gtest/gtest.h>

#include <weft/network/topo/graph_file.hpp>

namespace weft::probe {
namespace {

Finding example() {
  Finding found;
  found.hosts = {{"a", 0, 1}, {"b", 0, 0.5}, {"c", 2, 1}, {"d", 2, 1}, {"e", nowhere, 0}};
  found.switches = {{"s0", 0}, {"t0", 100}, {"s1", 220}};
  LinkFound up;
  up.a = 0, up.b = 1, up.latency_ns = 5'000, up.rate_bit_per_s = 9.41e8, up.filled = Filled::full;
  LinkFound down = up;
  down.a = 1, down.b = 2, down.rate_bit_per_s = 4e9, down.filled = Filled::at_least;
  found.links = {up, down};
  found.host_ns = 10'000;
  found.host_bit_per_s = 9.4e8;
  found.remarks = {"a remark"};
  found.counts.round_trips = 12;
  return found;
}

TEST(Files, JsonThereAndBack) {
  const Finding found = example();
  const auto read = from_json(to_json(found), "x.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->hosts, found.hosts);
  EXPECT_EQ(read->switches, found.switches);
  EXPECT_EQ(read->links, found.links);
  EXPECT_EQ(read->counts, found.counts);
  EXPECT_EQ(read->remarks, found.remarks);
  EXPECT_EQ(to_json(*read), to_json(found));
}

TEST(Files, JsonThatIsWrong) {
  EXPECT_FALSE(from_json("", "x").has_value());
  EXPECT_FALSE(from_json("{}", "x").has_value());
  EXPECT_FALSE(from_json("{\"weft\": \"probe\", \"version\": 1}", "x").has_value());
  Finding circle = example();
  circle.links[0].a = 2;
  EXPECT_FALSE(from_json(to_json(circle), "x").has_value());
  Finding far = example();
  far.hosts[0].on = 7;
  EXPECT_FALSE(from_json(to_json(far), "x").has_value());
}

TEST(Files, NetworkIsOneThatTopoReads) {
  const NetworkText text = *to_network(example(), "x.graph");
  const auto topology = read_graph_text(text.graph, "x.graph");
  ASSERT_TRUE(topology.has_value()) << topology.error().text();
  EXPECT_EQ(topology->graph.node_count(), 4u) << "one has no place";
  EXPECT_EQ(topology->graph.cable_count(), 2u);
  EXPECT_EQ(topology->graph.link_classes().size(), 2u);
  EXPECT_NE(text.description.find("rate = \"940 Mb/s\"\ndelay = \"5 us\""), std::string::npos)
      << text.description;
}

TEST(Files, NetworkSaysWhichRatesWereNotMeasured) {
  Finding found = example();
  found.links[1].rate_bit_per_s = 0;
  found.links[1].filled = Filled::unknown;
  const auto text = to_network(found, "x.graph");
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->description.find("# No rate was measured for these links, which have that of a "
                                   "host: t0-s1\n"),
            std::string::npos)
      << text->description;
  EXPECT_EQ(to_network(example(), "x.graph")->description.find("No rate"), std::string::npos);
}

TEST(Files, NoNetworkWithoutAnyRate) {
  Finding found = example();
  found.host_bit_per_s = 0;
  for (LinkFound& link : found.links) link.rate_bit_per_s = 0;
  const auto text = to_network(found, "x.graph");
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().text().find("--trials"), std::string::npos) << text.error().text();
}

TEST(Files, ManyDifferentLinksShareClasses) {
  Finding found;
  found.switches.push_back({"s0", 0});
  for (std::uint32_t i = 1; i <= 400; ++i) {
    found.switches.push_back({"s" + std::to_string(i), 0});
    LinkFound link;
    link.b = i;
    link.latency_ns = 1'000.0 + 10 * i;
    link.rate_bit_per_s = 1e9 + 1e7 * i;
    link.filled = Filled::full;
    found.links.push_back(link);
  }
  EXPECT_TRUE(read_graph_text(to_graph(found), "x").has_value());
}

TEST(Files, GroupsAndTable) {
  EXPECT_EQ(to_groups(example()), "a s0\nb s0\nc s1\nd s1\n");
  const std::string table = to_table(example());
  EXPECT_NE(table.find("5 hosts on 2 switches, and 1 that join them"), std::string::npos) << table;
  EXPECT_NE(table.find("at least 4 Gb/s"), std::string::npos) << table;
  EXPECT_NE(table.find("confidence 50 %"), std::string::npos) << table;
}

}  // namespace
}  // namespace weft::probe
