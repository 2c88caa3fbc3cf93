// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/study/map/judge.hpp>
#include <weft/study/map/linear.hpp>
#include <weft/study/map/test_patterns.hpp>

namespace weft::map {
namespace {

// To ranks at distances of powers of two, which no neighbourhood serves.
std::vector<Flow> bruck(std::uint32_t ranks) {
  std::vector<Flow> flows;
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t d = 1; d < ranks; d *= 2) flows.push_back({r, (r + d) % ranks, 16 * d, 1});
  return flows;
}

Problem bruck_on(const std::string& net, std::uint32_t per_node = 1) {
  Request request;
  request.slots_per_node = per_node;
  const auto topology = network(net);
  const std::uint32_t ranks = topology->graph.node_count() * per_node;
  return make_problem(topology, ranks, bruck(ranks), request);
}

struct Place {
  const char* net;
  std::uint32_t per_node = 1;
  std::vector<std::uint32_t> sides;  // Empty: as given.
};

const Place places[] = {{"torus:4x4x4", 1, {}},   {"torus:4x4x4", 1, {8, 8}},
                        {"torus:2x2x2", 1, {}},   {"mesh:2x2", 1, {}},
                        {"torus:8x4", 4, {}},     {"torus:4x4,p=2", 1, {}},
                        {"torus:12x10x6", 1, {}}, {"torus:12x10x6", 1, {10, 9, 8}},
                        {"torus:6x5", 3, {}},     {"torus:3x3x3", 1, {}},
                        {"torus:3x3", 1, {3, 3}}, {"mesh:15x4", 1, {4, 15}},
                        {"torus:7x11", 1, {}},    {"torus:9x2", 1, {6, 3}}};

Numbering numbering_of(const Problem& problem, const std::vector<std::uint32_t>& sides) {
  Numbering made = as_given(problem);
  if (sides.empty()) return made;
  Rng rng(5);
  made.name = "test";
  made.order = shuffled(problem.slots(), rng);
  made.sides = sides;
  made.cyclic.assign(sides.size(), false);
  return made;
}

TEST(LinearSearch, EveryMapDrawnIsOne) {
  for (const Place& place : places) {
    SCOPED_TRACE(place.net);
    const Problem problem = bruck_on(place.net, place.per_node);
    const Numbering numbering = numbering_of(problem, place.sides);
    ASSERT_TRUE(LinearSearch::fits(problem, numbering));
    const auto paths = paths_of(problem);
    for (const auto start : {LinearSearch::Start::plain, LinearSearch::Start::best}) {
      LinearSearch search(problem, objective_of("paper"), numbering, start, Rng(3));
      const double begun = search.best_value();
      // So hot at first that most of what is drawn is taken, and shown as the best when better.
      for (int i = 0; i < 40; ++i) {
        search.run(5, 200, nullptr);
        ASSERT_TRUE(problem.is_map(search.best()));
      }
      EXPECT_EQ(search.evaluations(), 200u);
      EXPECT_LE(search.best_value(), begun);
      const double judged = judge(problem, search.best(), objective_of("paper"), *paths).value;
      EXPECT_NEAR(search.best_value(), judged, 1e-9 * judged);
    }
  }
}

// Every map drawn, not only the best: without traffic all are accepted. A packed search is where it
// stands, its best, and three numbers; so the former can be put in the place of the latter.
TEST(LinearSearch, WhereItStandsIsAMapToo) {
  for (const Place& place : places) {
    SCOPED_TRACE(place.net);
    Request request;
    request.slots_per_node = place.per_node;
    const Problem silent = make_problem(network(place.net), 1, {}, request);
    const Numbering numbering = numbering_of(silent, place.sides);
    LinearSearch search(silent, objective_of("paper"), numbering, LinearSearch::Start::plain,
                        Rng(7));
    LinearSearch shown = search;
    for (int i = 0; i < 100; ++i) {
      search.run(3, 300, nullptr);
      Packer letter;
      search.pack(letter);
      const auto bytes = letter.take();
      const std::size_t form = (bytes.size() - 24) / 2;
      auto turned = std::vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(form));
      turned.insert(turned.end(), turned.begin(), turned.end());
      turned.insert(turned.end(), bytes.end() - 24, bytes.end());
      Unpacker reader(turned);
      shown.unpack(reader);
      ASSERT_TRUE(silent.is_map(shown.best()));
    }
    EXPECT_EQ(search.acceptance(), 1);
  }
}

TEST(LinearSearch, FindsBetterMaps) {
  const Problem problem = bruck_on("torus:8x8x8");
  const Numbering numbering = as_given(problem);
  LinearSearch search(problem, objective_of("paper"), numbering, LinearSearch::Start::plain,
                      Rng(1));
  const auto paths = paths_of(problem);
  const double identity = judge(problem, problem.in_order(), objective_of("paper"), *paths).value;
  search.run(2000, 2000, nullptr);
  EXPECT_LT(search.best_value(), 0.6 * identity);
}

TEST(LinearSearch, TheSameSeedFindsTheSame) {
  for (const char* net : {"torus:4x4x4", "torus:6x10"}) {
    const Problem problem = bruck_on(net);
    const Numbering numbering = as_given(problem);
    const auto run = [&](std::uint64_t seed) {
      LinearSearch search(problem, objective_of("paper"), numbering, LinearSearch::Start::plain,
                          Rng(seed));
      search.run(150, 300, nullptr);
      search.run(150, 300, nullptr);
      return search.best();
    };
    EXPECT_EQ(run(4), run(4));
  }
}

// Two that are given the same state and random numbers go on alike, whatever they did before.
TEST(LinearSearch, GoesOnFromAPackedState) {
  for (const Place& place : places) {
    SCOPED_TRACE(place.net);
    const Problem problem = bruck_on(place.net, place.per_node);
    const Numbering numbering = numbering_of(problem, place.sides);
    LinearSearch first(problem, objective_of("paper"), numbering, LinearSearch::Start::plain,
                       Rng(1));
    first.run(100, 400, nullptr);
    Packer letter;
    first.pack(letter);
    const auto bytes = letter.take();
    const auto go_on = [&](LinearSearch::Start start) {
      LinearSearch next(problem, objective_of("paper"), numbering, start, Rng(2));
      Unpacker reader(bytes);
      next.unpack(reader);
      EXPECT_TRUE(reader.empty());
      EXPECT_EQ(next.best(), first.best());
      EXPECT_EQ(next.best_value(), first.best_value());
      EXPECT_EQ(next.evaluations(), 100u);
      next.run(300, 400, nullptr);
      return next.best();
    };
    EXPECT_EQ(go_on(LinearSearch::Start::plain), go_on(LinearSearch::Start::best));
  }
}

TEST(LinearSearch, StopsWhenTold) {
  const Problem problem = bruck_on("torus:4x4");
  const Numbering numbering = as_given(problem);
  LinearSearch search(problem, objective_of("paper"), numbering, LinearSearch::Start::plain,
                      Rng(1));
  const std::atomic<bool> stop = true;
  search.run(1000, 1000, &stop);
  EXPECT_EQ(search.evaluations(), 0u);
  EXPECT_TRUE(problem.is_map(search.best()));
}

TEST(LinearSearch, FitsOnlyWhatHasTheSameDigits) {
  const auto fits = [](const Problem& problem, const std::vector<std::uint32_t>& sides) {
    return LinearSearch::fits(problem, numbering_of(problem, sides));
  };
  const Problem problem = bruck_on("torus:6x6");
  EXPECT_TRUE(fits(problem, {}));
  EXPECT_TRUE(fits(problem, {4, 9}));
  EXPECT_FALSE(fits(problem, {35}));  // Not all ranks stand in it.
  EXPECT_FALSE(fits(problem, {8, 3}));
  EXPECT_FALSE(fits(bruck_on("mesh:7"), {}));       // One digit: nothing to search.
  EXPECT_FALSE(fits(bruck_on("torus:257x2"), {}));  // A prime too large.
  EXPECT_FALSE(fits(bruck_on("hyperx:4x4"), {}));   // No cube.
  Request some, fixed, adaptive;
  some.forbidden = {NodeId(1)};
  fixed.fixed = {4};
  adaptive.routing = "min-adaptive";
  for (const Request& request : {some, fixed, adaptive})
    EXPECT_FALSE(fits(make_problem(network("torus:4x4"), 3, {}, request), {}));
}

}  // namespace
}  // namespace weft::map
