// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/network_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/network/topo/facts.hpp>

namespace weft {
namespace {

Result<Topology> read(const std::string& text) {
  const auto config = Config::read_text(text, "net.toml");
  if (!config) return config.error();
  return read_topology(config->table("network"), testing::TempDir());
}

TEST(NetworkFile, ReadsTheTable) {
  const auto t = read(
      "[router]\nvcs = 3\n[network]\ntopology = \"torus:4x4\"\nnodes_per_router = 2\n"
      "down = [\"(0,0)-(1,0)\", \"(0,0)-(0,3)\"]\n");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->name, "torus:4x4,p=2");
  EXPECT_EQ(t->graph.down_count(), 2u);
  EXPECT_FALSE(t->graph.ports(RouterId(0))[Lattice::up_port(0)].up);
  EXPECT_FALSE(t->graph.ports(RouterId(0))[Lattice::down_port(1)].up);
}

TEST(NetworkFile, ErrorsSayWhere) {
  struct Case {
    std::string body, message;
  };
  const Case cases[] = {
      {"topology = \"tours:4\"",
       "net.toml:2: unknown kind of network 'tours'; did you mean 'torus'?"},
      {"topology = \"torus:1\"", "net.toml:2: torus:1: size 1 in '1' must be from 2 to 16777216"},
      {"topology = \"fattree:k=2,levels=2\"\nnodes_per_router = 2",
       "net.toml:2: fattree:k=2,levels=2: 'fattree' has no parameter 'p'"},
      {"topology = \"ring:4\"\ndown = [\"(0)-(2)\"]",
       "net.toml:3: there is no cable '(0)-(2)'; those of (0) lead to (1), (3)"},
      {"topology = \"ring:4\"\ndown = [\"(0)-(1)\", \"(1)-(0)\"]",
       "net.toml:3: every cable of '(1)-(0)' is down already"},
      {"topology = \"ring:4\"\ndown = [\"(0)-(4)\"]",
       "net.toml:3: no router '(4)' in ring:4; they are called '(0)' to '(3)'"},
      {"topology = \"ring:4\"\ndown = [\"n1-(1)\"]",
       "net.toml:3: 'n1' is a node, and only cables between routers can be down or have rates of "
       "their own; to do without a node, leave it out of the map (weft sim --map)"},
      {"topology = \"ring:4\"\ndown = [\"(0)\"]",
       "net.toml:3: '(0)' must be two routers with a '-' between"},
      {"topology = \"ring:4\"\ndown = [\"random:2\"]",
       "net.toml:3: 'random:2': only 1 cables can break while all nodes stay connected"},
      {"topology = \"ring:4\"\ndown = [\"random\"]",
       "net.toml:3: 'random' must look like random:3 or random:3,seed=2"},
      {"topology = \"ring:4\"\ndown = [\"random:x\"]",
       "net.toml:3: 'random:x' must look like random:3 or random:3,seed=2"},
      {"topology = \"ring:4\"\ndown = [\"random:1,sed=2\"]",
       "net.toml:3: 'random:1,sed=2' must look like random:3 or random:3,seed=2"},
  };
  for (const Case& c : cases) {
    const auto t = read("[network]\n" + c.body + "\n");
    ASSERT_FALSE(t) << c.body;
    EXPECT_EQ(t.error().text(), c.message);
  }
  EXPECT_FALSE(read("[network]\ntopolgy = \"ring:4\"\n"));
  EXPECT_FALSE(read("[network]\n"));
}

std::vector<std::uint32_t> links_down(const Topology& t) {
  std::vector<std::uint32_t> down;
  for (std::uint32_t l = 0; l < t.graph.link_count(); ++l)
    if (!t.graph.port(LinkId(l)).up) down.push_back(l);
  return down;
}

TEST(NetworkFile, BreaksRandomCablesAndStaysConnected) {
  const auto broken = [](const std::string& spec, const std::string& words) {
    auto t = read("[network]\ntopology = \"" + spec + "\"\ndown = [" + words + "]\n");
    EXPECT_TRUE(t) << t.error().text();
    return *std::move(t);
  };
  const Topology three = broken("torus:4x4", "\"random:3\"");
  EXPECT_EQ(three.graph.down_count(), 3u);
  EXPECT_EQ(links_down(three), links_down(broken("torus:4x4", "\"random:3,seed=1\"")));
  EXPECT_NE(links_down(three), links_down(broken("torus:4x4", "\"random:3,seed=2\"")));
  EXPECT_EQ(broken("torus:4x4", "\"(0,0)-(1,0)\", \"random:2\"").graph.down_count(), 3u);
  // All that can be spared: what is left is a tree.
  const Topology tree = broken("torus:4x4", "\"random:17\"");
  EXPECT_TRUE(validate(tree));
  EXPECT_EQ(tree.graph.cable_count() - tree.graph.down_count(), 15u);
}

TEST(NameCables, GivesThemAClassOfTheirOwn) {
  const auto t = name_cables(*make_topology("torus:4x4"), "(0,1)-(0,0)");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->graph.link_classes(), (std::vector<std::string>{"x", "y", "(0,1)-(0,0)"}));
  const Port& up = t->graph.ports(RouterId(0))[Lattice::up_port(1)];
  EXPECT_EQ(up.link_class, 2);
  EXPECT_EQ(t->graph.ports(up.peer)[up.peer_port].link_class, 2);
  EXPECT_EQ(t->graph.base_class(2), 1u);
  EXPECT_EQ(t->graph.base_class(0), 0u);
  EXPECT_EQ(name_cables(*make_topology("ring:4"), "(0)-(2)").error().text(),
            "there is no cable '(0)-(2)'; those of (0) lead to (1), (3)");
  const std::string many = name_cables(*make_topology("hyperx:12x2"), "(0,0)-(1,1)").error().text();
  EXPECT_TRUE(many.ends_with("(8,0) and 4 more")) << many;
}

class LoadTopology : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test_file(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(write_file(path("two.graph"),
                           "weft-graph 1\nrouter a-1\nrouter b-1\nnode x a-1\nnode y b-1\n"
                           "link a-1 b-1\nlink a-1 b-1\n"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(LoadTopology, TakesSpecsAndFiles) {
  EXPECT_EQ(load_topology("torus:4x4")->name, "torus:4x4");
  EXPECT_EQ(load_topology(path("two.graph"))->graph.cable_count(), 2u);
  EXPECT_EQ(load_topology("graph:" + path("two.graph"))->graph.cable_count(), 2u);
  EXPECT_EQ(load_topology("nowhere").error().text(),
            "'nowhere' is neither a file nor a network spec such as torus:4x4x4");
  EXPECT_EQ(load_topology("fatree").error().text(),
            "'fatree' is neither a file nor a network spec such as torus:4x4x4; did you mean "
            "'fattree'?");
  EXPECT_EQ(load_topology(path("two.grph")).error().text(),
            "cannot read '" + path("two.grph") + "': No such file or directory; did you mean '" +
                path("two.graph") + "'?");
  EXPECT_EQ(load_topology("tours:4").error().text(),
            "unknown kind of network 'tours'; did you mean 'torus'?");
}

TEST_F(LoadTopology, GraphFilesLieBesideTheDescription) {
  // Each "A-B" breaks one of the two cables; names with a dash are found all the same.
  const auto config = Config::read_text(
      "[network]\ntopology = \"graph:two.graph\"\ndown = [\"a-1-b-1\"]\n", "net.toml");
  const auto t = read_topology(config->table("network"), folder_.string());
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->graph.down_count(), 1u);
  EXPECT_TRUE(validate(*t));
}

}  // namespace
}  // namespace weft
