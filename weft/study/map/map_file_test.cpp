// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/map_file.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/study/map/formats.hpp>
#include <weft/study/map/test_problem.hpp>

namespace weft::map {
namespace {

using Nodes = std::vector<std::uint32_t>;

std::string kept(const std::string& text) {
  const std::string path = test_file("some.map");
  EXPECT_TRUE(write_file(path, text));
  return path;
}

TEST(MapFile, ReadsWhatIsWritten) {
  for (const char* net : {"torus:4x3x2", "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2"}) {
    const Problem p = test_problem(net, 7, slots(3));
    const Nodes nodes = {6, 6, 0, 3, 6, 1, 0};
    // Host lists name the nodes as the network does, so they are read as well.
    for (const char* format : {"weft", "nodes", "json", "slurm", "mpich"}) {
      const auto read = read_map(kept(*write_map(p, nodes, {format})), p.topology(), 7);
      ASSERT_TRUE(read) << format << ": " << read.error().text();
      EXPECT_EQ(*read, nodes) << format;
    }
  }
  const Problem p = test_problem("torus:4x3x2", 3, {});
  const auto read = read_map(kept(*write_map(p, Nodes{23, 5, 0}, {"fujitsu"})), p.topology(), 3);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (Nodes{23, 5, 0}));
}

TEST(MapFile, NamesFileAndLine) {
  const Topology t = *make_topology("mesh:2x2");
  const std::string path = kept("0 1\n1 7\n");
  EXPECT_EQ(read_map(path, t, 2).error().text(), path + ":2: node 7 is outside of 0 to 3");
  EXPECT_EQ(read_map(kept("0 1\n"), t, 2).error().text(), path + ": rank 1 of 2 is missing");
  EXPECT_FALSE(read_map(path + ".none", t, 2));
}

}  // namespace
}  // namespace weft::map
