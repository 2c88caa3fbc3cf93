// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/formats.hpp"

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/study/map/test_problem.hpp>

namespace weft::map {
namespace {

using Nodes = std::vector<std::uint32_t>;

std::string write(const Problem& problem, const Nodes& nodes, WriteOptions options) {
  const auto text = write_map(problem, nodes, options);
  return text ? *text : "error: " + text.error().text();
}

TEST(MapFormats, SayTheSameInEveryWay) {
  const Problem p = test_problem("mesh:2x2", 3, slots(2));
  const Nodes nodes = {3, 0, 3};
  EXPECT_EQ(write(p, nodes, {"weft"}), "# 3 ranks on mesh:2x2\n# rank node\n0 3\n1 0\n2 3\n");
  EXPECT_EQ(write(p, nodes, {"nodes"}), "3\n0\n3\n");
  EXPECT_EQ(write(p, nodes, {"rankfile"}),
            "rank 0=n3 slot=0\nrank 1=n0 slot=0\nrank 2=n3 slot=1\n");
  EXPECT_EQ(write(p, nodes, {"slurm"}), "n3\nn0\nn3\n");
  EXPECT_EQ(write(p, nodes, {"mpich"}), "n3\nn0\nn3\n");
  EXPECT_EQ(write(p, nodes, {"fujitsu"}), "(1,1)\n(0,0)\n(1,1)\n");
  const auto json = nlohmann::json::parse(write(p, nodes, {"json"}));
  EXPECT_EQ(json["nodes"].get<Nodes>(), nodes);
  EXPECT_EQ(json["hosts"], nlohmann::json({"n3", "n0", "n3"}));
  EXPECT_EQ(json["network"], "mesh:2x2");
}

TEST(MapFormats, NeedNoProblem) {
  const auto mesh = make_topology("mesh:2x2");
  ASSERT_TRUE(mesh);
  const Nodes nodes = {3, 0, 3};
  EXPECT_EQ(*write_map(*mesh, nodes, {"fujitsu"}), "(1,1)\n(0,0)\n(1,1)\n");
  EXPECT_EQ(nlohmann::json::parse(*write_map(*mesh, nodes, {"json"}))["slots_per_node"], 2);
  EXPECT_EQ(find_map_format("xml"), nullptr);
  for (const MapFormat& format : map_formats()) {
    EXPECT_EQ(find_map_format(format.name)->help, format.help);
    EXPECT_EQ(format.needs_network, format.name == "fujitsu") << format.name;
    // A node without a name matters only to formats that write names.
    const WriteOptions nameless{std::string(format.name), {"a", "b", "c", ""}};
    const auto text = write_map(*mesh, Nodes{3}, nameless);
    EXPECT_EQ(static_cast<bool>(text), !format.names_hosts) << format.name;
  }
}

TEST(MapFormats, TakeNamesOfHosts) {
  const Problem p = test_problem("mesh:2x2", 3, slots(2));
  const std::vector<std::string> hosts = {"a", "b", "c", "d.net"};
  EXPECT_EQ(write(p, {3, 0, 3}, {"slurm", hosts}), "d.net\na\nd.net\n");
  // Two nodes of one host share its slots.
  EXPECT_EQ(write(p, {3, 0, 3}, {"rankfile", {"a", "b", "c", "a"}}),
            "rank 0=a slot=0\nrank 1=a slot=1\nrank 2=a slot=2\n");
  EXPECT_EQ(write(p, {3, 0, 3}, {"slurm", {"a"}}),
            "error: 1 host names for the 4 nodes of mesh:2x2; give one for each node");
  for (const char* bad : {"", "two words", "a=b", "a:2", "a,b", "#a"})
    EXPECT_EQ(write(p, {3, 0, 3}, {"mpich", {bad, "b", "c", "d"}}),
              std::string("error: node 0 is called '") + bad +
                  "', which is no name of a host; give the hosts of all nodes");
}

std::vector<std::uint32_t> listed(const std::string& text) {
  std::vector<std::uint32_t> ranks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    EXPECT_NE(line.back(), ',');
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');)
      ranks.push_back(static_cast<std::uint32_t>(std::stoul(word)));
  }
  return ranks;
}

TEST(MapFormats, CrayOrderIsTheInverse) {
  Rng rng = Rng(test_seed()).stream("cray", 0);
  for (const std::uint32_t per_node : {1u, 2u, 5u}) {
    const Problem p = test_problem("torus:4x4", 16 * per_node, slots(per_node));
    Nodes nodes;
    for (std::uint32_t r = 0; r < p.ranks(); ++r) nodes.push_back(r / per_node);
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[rng.below(i)]);
    const auto order = listed(write(p, nodes, {"cray"}));
    ASSERT_EQ(order.size(), nodes.size());
    for (std::uint32_t slot = 0; slot < order.size(); ++slot)
      EXPECT_EQ(nodes[order[slot]], slot / per_node);
  }
}

TEST(MapFormats, CrayOrderHasNoGaps) {
  const Problem p = test_problem("mesh:4", 5, slots(2));
  // Whole nodes may be free, and the last one may be half full.
  EXPECT_EQ(write(p, {3, 1, 0, 1, 0}, {"cray"}),
            "# 5 ranks on mesh:4\n# 3 of 4 nodes have ranks: the job has those only\n2,4,1,3,0\n");
  EXPECT_EQ(write(p, {3, 3, 0, 1, 0}, {"cray"}),
            "error: a Cray rank order cannot leave gaps: node n1 has 1 of 2 ranks and others "
            "follow; write 'slurm', or map with as many ranks on each node");
}

TEST(MapFormats, SayWhatTheyCannotSay) {
  const Problem tree = test_problem("fattree:k=4,levels=2", 2, {});
  EXPECT_NE(write(tree, {0, 1}, {"fujitsu"}).find("needs a mesh or torus"), std::string::npos);
  const Problem deep = test_problem("torus:2x2x2x2", 2, {});
  EXPECT_NE(write(deep, {0, 1}, {"fujitsu"}).find("at most 3 dimensions"), std::string::npos);
  const Problem pairs = test_problem("mesh:2x2,p=2", 2, {});
  EXPECT_NE(write(pairs, {0, 1}, {"fujitsu"}).find("one node at each place"), std::string::npos);
  EXPECT_EQ(write(tree, {0, 1}, {"rankfil"}),
            "error: 'rankfil' is no format of a map; did you mean 'rankfile'?");
}

TEST(MapFormats, ListThemselves) {
  const Problem p = test_problem("mesh:2x2", 2, {});
  EXPECT_EQ(map_formats().size(), 8u);
  for (const MapFormat& format : map_formats()) {
    EXPECT_FALSE(format.help.empty());
    EXPECT_TRUE(write_map(p, Nodes{2, 1}, {std::string(format.name)})) << format.name;
  }
}

TEST(MapFormats, NothingIsFine) {
  const Problem p = test_problem("mesh:2x2", 0, {});
  for (const MapFormat& format : map_formats())
    EXPECT_TRUE(write_map(p, Nodes{}, {std::string(format.name)})) << format.name;
}

}  // namespace
}  // namespace weft::map
