// SPDX-License-Identifier: Apache-2.0
// Patterns against their definitions by coordinates, worked out the slow way.
#include "weft/workload/patterns/pattern.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

std::uint32_t to(std::string_view name, const Grid& grid, std::uint32_t from) {
  Rng rng(1);
  auto pattern = make_pattern(name, grid, 1);
  EXPECT_TRUE(pattern) << pattern.error().text();
  EXPECT_TRUE((*pattern)->fixed());
  return (*pattern)->destination(NodeId(from), rng).index;
}

std::string refusal(std::string_view name, const Grid& grid) {
  const auto pattern = make_pattern(name, grid, 1);
  return pattern ? "" : pattern.error().text();
}

TEST(Pattern, ByCoordinatesOnASquare) {
  constexpr std::uint32_t k = 8;
  const Grid grid{{8, 8}};
  for (std::uint32_t x = 0; x < k; ++x)
    for (std::uint32_t y = 0; y < k; ++y) {
      const std::uint32_t n = x + k * y;
      EXPECT_EQ(to("transpose", grid, n), y + k * x);
      EXPECT_EQ(to("bitcomp", grid, n), (k - 1 - x) + k * (k - 1 - y));
      EXPECT_EQ(to("tornado", grid, n), (x + 3) % k + k * ((y + 3) % k));
      EXPECT_EQ(to("neighbor", grid, n), (x + 1) % k + k * ((y + 1) % k));
    }
}

TEST(Pattern, TornadoOfOddRadix) {
  // ceil(5/2) - 1 = 2, ceil(4/2) - 1 = 1.
  const Grid grid{{5, 4}};
  EXPECT_EQ(to("tornado", grid, 0), 2u + 5u);
  EXPECT_EQ(to("tornado", grid, 4 + 5 * 3), 1u + 5u * 0u);
}

TEST(Pattern, TransposeReversesAllCoordinates) {
  const Grid grid{{4, 3, 4}};
  const auto number = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return x + 4 * (y + 3 * z);
  };
  for (std::uint32_t x = 0; x < 4; ++x)
    for (std::uint32_t y = 0; y < 3; ++y)
      for (std::uint32_t z = 0; z < 4; ++z)
        EXPECT_EQ(to("transpose", grid, number(x, y, z)), number(z, y, x));
  EXPECT_NE(refusal("transpose", Grid{{4, 3}}), "");
}

TEST(Pattern, SeveralNodesAtAPointKeepTheirPlace) {
  const Grid grid{{4, 4}, 3};
  const auto number = [](std::uint32_t local, std::uint32_t x, std::uint32_t y) {
    return local + 3 * (x + 4 * y);
  };
  EXPECT_EQ(grid.nodes(), 48u);
  EXPECT_EQ(to("transpose", grid, number(2, 1, 3)), number(2, 3, 1));
  EXPECT_EQ(to("tornado", grid, number(1, 3, 0)), number(1, 0, 1));
  EXPECT_EQ(to("bit-complement", grid, 0), 47u);
}

TEST(Pattern, WithoutCoordinatesByNumber) {
  const Grid ids{{16}};
  EXPECT_EQ(to("transpose", ids, 1), 4u);  // A square of 4 x 4.
  EXPECT_EQ(to("tornado", ids, 0), 7u);
  EXPECT_NE(refusal("transpose", Grid{{10}}), "");
}

TEST(Pattern, ByBits) {
  const Grid grid{{4, 4}};
  for (std::uint32_t n = 0; n < 16; ++n) {
    std::string bits;
    for (int b = 3; b >= 0; --b) bits += ((n >> b) & 1u) != 0 ? '1' : '0';
    const auto value = [](const std::string& text) {
      return static_cast<std::uint32_t>(std::stoul(text, nullptr, 2));
    };
    EXPECT_EQ(to("bitrev", grid, n), value(std::string(bits.rbegin(), bits.rend())));
    EXPECT_EQ(to("shuffle", grid, n), value(bits.substr(1) + bits[0]));
    EXPECT_EQ(to("bit-rotation", grid, n), value(bits[3] + bits.substr(0, 3)));
  }
  for (const char* name : {"bit-reverse", "shuffle", "bit-rotation"})
    EXPECT_EQ(refusal(name, Grid{{3, 4}}),
              "pattern '" + std::string(name) + "' needs a power of two of nodes, there are 12");
}

TEST(Pattern, FixedOnesButAsymmetricArePermutations) {
  const Grid grid{{8, 8}};
  Rng rng(1);
  for (const PatternEntry& entry : builtin_patterns()) {
    const std::string spec = entry.name == "shift" ? "shift:5" : std::string(entry.name);
    if (entry.name == "hotspot") continue;
    auto pattern = make_pattern(spec, grid, 1);
    ASSERT_TRUE(pattern) << spec;
    if (!(*pattern)->fixed()) continue;
    std::set<NodeId> reached;
    for (std::uint32_t n = 0; n < grid.nodes(); ++n)
      reached.insert((*pattern)->destination(NodeId(n), rng));
    EXPECT_EQ(reached.size(), grid.nodes()) << spec;
  }
}

// What is drawn follows the shares, for each pattern that draws.
TEST(Pattern, DrawsFollowTheShares) {
  SCOPED_TRACE(replay_text(test_seed()));
  const Grid grid{{3, 2}};
  constexpr int draws = 60'000;
  for (const char* spec :
       {"uniform", "uniform-others", "hotspot:0.25@1,4", "hotspot:1@2", "asymmetric"}) {
    auto pattern = make_pattern(spec, grid, 1);
    ASSERT_TRUE(pattern) << spec;
    const NodeId source(4);
    std::vector<Pattern::Share> shares;
    (*pattern)->shares(source, shares);
    std::map<std::uint32_t, double> expected, seen;
    double all = 0;
    for (const auto& share : shares) {
      expected[share.to.index] += static_cast<double>(share.weight);
      all += static_cast<double>(share.weight);
    }
    Rng rng = Rng(test_seed()).stream(spec);
    for (int i = 0; i < draws; ++i) ++seen[(*pattern)->destination(source, rng).index];
    for (std::uint32_t n = 0; n < grid.nodes(); ++n) {
      const double p = expected[n] / all;
      EXPECT_NEAR(seen[n], p * draws, 5 * std::sqrt(draws * p * (1 - p))) << spec << " " << n;
    }
  }
}

TEST(Pattern, SeedChoosesThePermutation) {
  const Grid grid{{64}};
  const auto all = [&](std::string_view spec, std::uint64_t seed) {
    Rng rng(1);
    auto pattern = make_pattern(spec, grid, seed);
    std::vector<std::uint32_t> order;
    for (std::uint32_t n = 0; n < 64; ++n)
      order.push_back((*pattern)->destination(NodeId(n), rng).index);
    return order;
  };
  EXPECT_EQ(all("permutation", 3), all("permutation", 3));
  EXPECT_NE(all("permutation", 3), all("permutation", 4));
  EXPECT_EQ(all("randperm:3", 1), all("permutation", 3));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto order = all("derangement", seed);
    for (std::uint32_t n = 0; n < 64; ++n) EXPECT_NE(order[n], n);
  }
}

TEST(Pattern, RefusesWithTheNearestName) {
  const Grid grid{{4, 4}};
  EXPECT_EQ(refusal("tornad", grid), "unknown pattern 'tornad'; did you mean 'tornado'?");
  EXPECT_EQ(refusal("uniform:3", grid), "pattern 'uniform' takes no parameters");
  EXPECT_EQ(refusal("hotspot:0.2@16", grid),
            "pattern 'hotspot': '16' is not a node; they are 0 to 15");
  for (const char* spec : {"hotspot", "hotspot:0.2", "hotspot:1.2@3", "hotspot:x@3", "shift:16",
                           "shift", "permutation:x"})
    EXPECT_NE(refusal(spec, grid), "") << spec;
  EXPECT_NE(refusal("asymmetric", Grid{{3, 3}}), "");
  EXPECT_NE(refusal("uniform-others", Grid{{1}}), "");
}

}  // namespace
}  // namespace weft
