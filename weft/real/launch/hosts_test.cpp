// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/hosts.hpp"

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_file.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::launch {
namespace {

std::string said(const std::string& text) {
  const auto hosts = parse_host_file(text, "f");
  if (!hosts) return hosts.error().text();
  std::string all;
  for (const Host& host : *hosts) all += host.name + ":" + std::to_string(host.slots) + " ";
  return all;
}

TEST(HostFile, IsReadLineByLine) {
  EXPECT_EQ(said("# all\nh0 slots=4\n\n  h1\tslots=2 # two\r\nuser@h2.site\n"),
            "h0:4 h1:2 user@h2.site:0 ");
}

TEST(HostFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(said(""), "f: names no host");
  EXPECT_EQ(said("h0\nh1 slots=x\n"), "f:2: slots: 'x' is not a number from 1 to 1048576");
  EXPECT_EQ(said("h0 slots=0\n"), "f:1: slots: '0' is not a number from 1 to 1048576");
  EXPECT_EQ(said("h0 cores=2\n"),
            "f:1: 'cores=2' is not understood; a line is a name, optionally followed by slots=N");
  EXPECT_EQ(said("h0 slots=2 slots=3\n"),
            "f:1: 'slots=3' is not understood; a line is a name, optionally followed by slots=N");
  EXPECT_EQ(said("-oProxyCommand=x\n"), "f:1: '-oProxyCommand=x' is not a host name");
  EXPECT_EQ(said("a;b\n"), "f:1: 'a;b' is not a host name");
}

TEST(HostFile, SurvivesWhateverComes) {
  Rng rng = Rng(test_seed()).stream("hosts", 0);
  for (int i = 0; i < 2000; ++i) {
    std::string text = "h0 slots=4\nh1 # x\n";
    for (std::uint64_t change = rng.below(4); change < 4; ++change)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    EXPECT_FALSE(said(text).empty());
  }
}

TEST(Hosts, AreNamedInTheOption) {
  const auto hosts = read_hosts("a, b:4 ,c");
  ASSERT_TRUE(hosts) << hosts.error().text();
  ASSERT_EQ(hosts->size(), 3u);
  EXPECT_EQ((*hosts)[1].name, "b");
  EXPECT_EQ((*hosts)[1].slots, 4u);
  EXPECT_FALSE(read_hosts("a,,b"));
  EXPECT_EQ(read_hosts("a:b").error().text(),
            "--hosts: a: slots: 'b' is not a number from 1 to 1048576");
  EXPECT_FALSE(read_hosts("./no/such/file"));
}

TEST(Hosts, KnowTheirOwnMachine) {
  EXPECT_TRUE(is_this_host("localhost", "n1.site"));
  EXPECT_TRUE(is_this_host("n1", "n1.site"));
  EXPECT_TRUE(is_this_host("n1.site", "n1"));
  EXPECT_TRUE(is_this_host("n1", "n1"));
  EXPECT_FALSE(is_this_host("n2", "n1"));
  EXPECT_FALSE(is_this_host("n1.other", "n1.site"));
}

using Places = std::vector<std::uint32_t>;

TEST(PlaceByBlocks, SharesOut) {
  EXPECT_EQ(*place_by_blocks({{"a", 0}, {"b", 0}}, 5), (Places{0, 0, 0, 1, 1}));
  EXPECT_EQ(*place_by_blocks({{"a", 0}, {"b", 0}, {"c", 0}}, 2), (Places{0, 1}));
  EXPECT_EQ(*place_by_blocks({{"a", 1}, {"b", 3}}, 4), (Places{0, 1, 1, 1}));
  EXPECT_EQ(*place_by_blocks({{"a", 1}, {"b", 2}}, 5), (Places{0, 1, 1, 0, 1}));
  EXPECT_EQ(*place_by_blocks({{"a", 4}, {"b", 4}}, 2), (Places{0, 0}));
  EXPECT_FALSE(place_by_blocks({{"a", 4}, {"b", 0}}, 2));
}

TEST(GatherRanks, MakesOneHostOfEqualNames) {
  const auto all = gather_ranks({{"a", 0}, {"b", 0}, {"a", 0}}, {0, 1, 2, 1}, "b");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].ranks, (Places{0, 2}));
  EXPECT_FALSE(all[0].local);
  EXPECT_EQ(all[1].ranks, (Places{1, 3}));
  EXPECT_TRUE(all[1].local);
}

}  // namespace
}  // namespace weft::launch
