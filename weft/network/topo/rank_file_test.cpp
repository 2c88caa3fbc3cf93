// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/rank_file.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

using Nodes = std::vector<std::uint32_t>;

std::string said(const std::string& text, std::uint32_t ranks = 3,
                 const std::string& net = "mesh:2x2") {
  const auto read = parse_rank_file(text, {.path = "m", .ranks = ranks}, *make_topology(net));
  if (!read) return read.error().text();
  std::string all;
  for (const std::uint32_t node : read->node) all += std::to_string(node) + " ";
  return all;
}

TEST(RankFile, ReadsItsThreeForms) {
  EXPECT_EQ(said("# rank node\n2 0\n0 3\n1 1 # here\n"), "3 1 0 ");
  EXPECT_EQ(said("3\r\n\r\n1\r\n0\r\n"), "3 1 0 ");
  EXPECT_EQ(said("\n{\"nodes\": [3, \"n1\", \"0,0\"]}\n"), "3 1 0 ");
  EXPECT_EQ(said("[3, 1, 0]"), "3 1 0 ");
  EXPECT_EQ(said("\xef\xbb\xbf"
                 "3\n1\n0"),
            "3 1 0 ");
}

TEST(RankFile, TakesNumbersNamesAndCoordinates) {
  EXPECT_EQ(said("0 n3\n1 1,0\n2 (0,0)\n"), "3 1 0 ");
  EXPECT_EQ(said("(1,1)\n(1,0)\n(0,0)\n"), "3 1 0 ");
  // The first node of a router with several.
  EXPECT_EQ(said("(1,1)\n(1,1)\n5\n", 3, "mesh:2x2,p=2"), "6 6 5 ");
}

TEST(RankFile, CountsComputersWhereTheyHaveRails) {
  const Topology t = *make_topology("mesh:2x2,p=2");
  const auto read = parse_rank_file("n5\n3\n0,1\n", {.path = "m", .ranks = 3, .rails = 2}, t);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->node, (Nodes{2, 3, 2}));
  EXPECT_EQ(read->line, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(parse_rank_file("4\n", {.path = "m", .ranks = 1, .rails = 2}, t));
}

TEST(RankFile, LooksWhetherRanksFit) {
  const Topology t = *make_topology("mesh:2x2");
  RankFileReading how{.path = "m", .ranks = 3, .rails = 1, .room = 2};
  EXPECT_TRUE(parse_rank_file("n1\n1\n0\n", how, t));
  EXPECT_EQ(parse_rank_file("n1\n1\n1,0\n", how, t).error().text(),
            "m:3: node 1,0 has room for 2 only; see --ranks-per-node");
  how.room = 0;
  EXPECT_TRUE(parse_rank_file("1\n1\n1\n", how, t));
}

TEST(RankFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(said("0 3\n1 1\n"), "m: rank 2 of 3 is missing");
  EXPECT_EQ(said(""), "m: rank 0 of 3 is missing");
  EXPECT_EQ(said("3\n1\n"), "m: rank 2 of 3 is missing");
  EXPECT_EQ(said("3\n1\n0\n2\n"), "m:4: one node more than there are ranks (3)");
  EXPECT_EQ(said("0 3\n\n0 1\n"), "m:3: rank 0 stands on line 1 already");
  EXPECT_EQ(said("0 4\n"), "m:1: node 4 is outside of 0 to 3");
  EXPECT_EQ(said("0 3\n9 1\n"), "m:2: rank 9 is outside of 0 to 2");
  EXPECT_EQ(said("x 3\n"), "m:1: 'x' is no rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(said("-1 3\n"), "m:1: '-1' is no rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(said("0 3\n1\n"),
            "m:2: one word, but line 1 has two; a file has 'RANK NODE' on every line, or a node on "
            "every line");
  EXPECT_EQ(said("0 1 2\n"), "m:1: a record is a rank and a node, such as '7 12' or '7 3,0,1'");
  EXPECT_EQ(said("0 9,9\n"),
            "m:1: '9,9': no router '(9,9)' in mesh:2x2; they are called '(0,0)' "
            "to '(1,1)'");
  EXPECT_EQ(said("3\n", 0), "m:1: one node more than there are ranks (0)");
  EXPECT_EQ(said("0 3\n", 0), "m:1: there are no ranks to place");
  EXPECT_EQ(said("0 4294967299\n").substr(0, 4), "m:1:");
}

TEST(RankFile, SaysWhatIsWrongWithJson) {
  EXPECT_EQ(said("{\"nodes\": [3,\n1,"),
            "m:2: is no whole JSON text; it breaks off or goes wrong "
            "here");
  EXPECT_EQ(said("{\"node\": [3]}"), "m: no array 'nodes' with the node of each rank");
  EXPECT_EQ(said("[1, 2]"), "m: 'nodes' has 2 entries for 3 ranks");
  EXPECT_EQ(said("[1, 2, 7]"), "m: nodes[2]: node 7 is outside of 0 to 3");
  EXPECT_EQ(said("[1, 2, -1]"), "m: nodes[2] is neither a node's number nor a name");
  EXPECT_EQ(said("[1, 2, 0.5]"), "m: nodes[2] is neither a node's number nor a name");
  EXPECT_EQ(said("[1, 2, 4e777]"), "m: has a number that is too large for any node");
  EXPECT_EQ(said("[1, 2, \"\"]").substr(0, 12), "m: nodes[2]:");
}

TEST(RankFile, SurvivesWhateverComes) {
  Rng rng = Rng(test_seed()).stream("rank file", 0);
  const std::vector<std::string> good = {"# a\n0 3\n1 1,0\n2 n0\n", "3\n1\n0\n",
                                         "{\"nodes\": [3, \"n1\", 0]}"};
  for (int i = 0; i < 3000; ++i) {
    std::string text = good[rng.below(good.size())];
    for (std::uint64_t change = rng.below(4); change < 4; ++change)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    if (rng.below(4) == 0) text.resize(rng.below(text.size()));
    EXPECT_FALSE(said(text).empty());
  }
}

}  // namespace
}  // namespace weft
