// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/map/structure.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

std::uint32_t product(const std::vector<std::uint32_t>& sides) {
  return std::accumulate(sides.begin(), sides.end(), 1u, std::multiplies<>());
}

bool talk_together(const Problem& problem, std::uint32_t a, std::uint32_t b) {
  const auto talks = problem.talks(a);
  return std::any_of(talks.begin(), talks.end(), [&](const Talk& t) { return t.peer == b; });
}

// Everybody stands once, those in the grid first, and neighbours in it talk.
void check_numbering(const Problem& problem, const Numbering& numbering) {
  SCOPED_TRACE(numbering.name);
  std::vector<std::uint32_t> sorted = numbering.order;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), problem.slots());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);
  ASSERT_EQ(numbering.cyclic.size(), numbering.sides.size());
  const std::uint32_t inside = product(numbering.sides);
  ASSERT_LE(inside, problem.ranks());
  for (std::uint32_t i = inside + 1; i < problem.slots(); ++i)
    EXPECT_LT(numbering.order[i - 1], numbering.order[i]);
  std::uint32_t stride = 1;
  for (std::size_t d = 0; d < numbering.sides.size(); ++d) {
    const std::uint32_t side = numbering.sides[d];
    for (std::uint32_t i = 0; i < inside; ++i) {
      const std::uint32_t x = i / stride % side;
      if (x + 1 < side) {
        EXPECT_TRUE(talk_together(problem, numbering.order[i], numbering.order[i + stride]));
      } else if (numbering.cyclic[d]) {
        EXPECT_TRUE(talk_together(problem, numbering.order[i], numbering.order[i - x * stride]));
      }
    }
    stride *= side;
  }
}

// Ranks of a grid, called anything; more ranks and slots than stand in it.
Problem hidden(const StencilShape& shape, std::uint32_t silent, std::uint64_t seed) {
  Rng rng(seed);
  const std::uint32_t inside = product(shape.sides);
  auto names = shuffled(inside + silent, rng);
  names.resize(inside);
  const auto net = network("mesh:" + std::to_string(inside + silent + 3));
  return make_problem(net, inside + silent, stencil(shape, names));
}

bool has_grid(const std::vector<Numbering>& found, std::vector<std::uint32_t> sides, bool cyclic) {
  std::sort(sides.begin(), sides.end(), std::greater<>());
  return std::any_of(found.begin(), found.end(), [&](const Numbering& n) {
    if (n.sides != sides) return false;
    for (std::size_t d = 0; d < sides.size(); ++d)
      if (n.cyclic[d] != (cyclic && sides[d] > 2)) return false;
    return true;
  });
}

struct Hidden {
  StencilShape shape;
  std::uint32_t silent = 0;
};

class HiddenGrid : public testing::TestWithParam<Hidden> {};

TEST_P(HiddenGrid, IsFound) {
  const Problem problem = hidden(GetParam().shape, GetParam().silent, 11);
  const auto found = find_grids(problem);
  ASSERT_FALSE(found.empty());
  for (const Numbering& n : found) check_numbering(problem, n);
  EXPECT_TRUE(has_grid(found, GetParam().shape.sides, GetParam().shape.cyclic))
      << found.front().name;
}

const Hidden grids[] = {
    {{{8, 8}}},
    {{{5, 7}, true}},
    {{{12, 3}}, 5},
    {{{6, 5, 4}}},
    {{{5, 6, 7}, true}},
    {{{5, 5, 5}, true}, 9},
    {{{3, 3, 3}}},
    {{{2, 6, 5}}},
    {{{6, 5, 5, 6}, true}},
    {{{3, 4, 3, 2}}, 2},
    {{{2, 2, 2, 2, 2}}},
    {{{9, 8}, true, 10}},
    {{{9, 8}, false, 10}, 4},
    {{{6, 6, 6}, true, 300}},
    {{{17}}},
    {{{17}, true}, 3},
};
INSTANTIATE_TEST_SUITE_P(Shapes, HiddenGrid, testing::ValuesIn(grids));

// A side of four that is closed is a square, like two sides of two: some grid must come out.
TEST(Structure, ClosedSidesOfFour) {
  const Problem problem = hidden({{4, 4, 4}, true}, 0, 3);
  const auto found = find_grids(problem);
  ASSERT_FALSE(found.empty());
  for (const Numbering& n : found) check_numbering(problem, n);
  EXPECT_EQ(product(found.front().sides), 64u);
}

TEST(Structure, NamesSayWhatWasFound) {
  EXPECT_EQ(find_grids(hidden({{8, 16}}, 0, 1)).front().name, "grid 16x8");
  EXPECT_EQ(find_grids(hidden({{20}, true}, 0, 1)).front().name, "ring");
  EXPECT_EQ(find_grids(hidden({{20}}, 0, 1)).front().name, "row");
}

// What the ranks' own numbers say already is not found again.
TEST(Structure, TheGivenRingIsLeftOut) {
  std::vector<std::uint32_t> names(16);
  std::iota(names.begin(), names.end(), 0u);
  for (const bool cyclic : {false, true}) {
    const Problem problem = make_problem(network("mesh:16"), 16, stencil({{16}, cyclic}, names));
    EXPECT_TRUE(find_grids(problem).empty());
  }
  const Problem grid = make_problem(network("mesh:16"), 16, stencil({{4, 4}}, names));
  EXPECT_FALSE(find_grids(grid).empty());
}

// Rings made of heavy talks, whatever else is said.
TEST(Structure, HeavyTalksFirst) {
  Rng rng(8);
  const auto names = shuffled(40, rng);
  auto flows = stencil({{40}, true}, names);
  for (int i = 0; i < 60; ++i)
    flows.push_back({static_cast<std::uint32_t>(rng.below(40)),
                     static_cast<std::uint32_t>(rng.below(40)), 1, 1});
  // Light talks between ring neighbours would change the ring's own weights.
  std::erase_if(flows, [&](const Flow& f) {
    if (f.bytes != 1) return false;
    const auto a = std::find(names.begin(), names.end(), f.from) - names.begin();
    const auto b = std::find(names.begin(), names.end(), f.to) - names.begin();
    const auto gap = std::abs(a - b);
    return gap == 1 || gap == 39;
  });
  const Problem problem = make_problem(network("mesh:40"), 40, flows);
  const auto found = find_grids(problem);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().name, "ring");
  check_numbering(problem, found.front());
}

TEST(Structure, NothingInRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < 200; ++i)
      flows.push_back({static_cast<std::uint32_t>(rng.below(60)),
                       static_cast<std::uint32_t>(rng.below(60)), 10, 1});
    EXPECT_TRUE(find_grids(make_problem(network("mesh:64"), 60, flows)).empty()) << seed;
  }
}

TEST(Structure, DensePatternsAndNothing) {
  std::vector<Flow> all, star;
  for (std::uint32_t a = 0; a < 50; ++a) {
    if (a > 0) star.push_back({0, a, 10, 1});
    for (std::uint32_t b = 0; b < 50; ++b) all.push_back({a, b, 10, 1});
  }
  EXPECT_TRUE(find_grids(make_problem(network("mesh:50"), 50, all)).empty());
  EXPECT_TRUE(find_grids(make_problem(network("mesh:50"), 50, star)).empty());
  EXPECT_TRUE(find_grids(make_problem(network("mesh:50"), 50, {})).empty());
  EXPECT_TRUE(find_grids(make_problem(network("mesh:50"), 50, {{3, 3, 1, 1}})).empty());
}

TEST(Structure, AsGiven) {
  const Problem problem = make_problem(network("mesh:5"), 3, {});
  const Numbering given = as_given(problem);
  EXPECT_EQ(given.order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(given.sides, (std::vector<std::uint32_t>{5}));
}

}  // namespace
}  // namespace weft::map
