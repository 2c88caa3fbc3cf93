// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/study/map/layout.hpp>
#include <weft/study/map/test_problem.hpp>

namespace weft::map {
namespace {

using Nodes = std::vector<std::uint32_t>;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++times;
  return times;
}

Nodes shuffled(Nodes nodes) {
  Rng rng = Rng(test_seed()).stream("picture", 0);
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[rng.below(i)]);
  return nodes;
}

std::string draw(const Problem& p) {
  const Nodes nodes = p.to_nodes(p.in_order());
  return draw_placement(p, {"a < b", {{"before", nodes}, {"after", shuffled(nodes)}}});
}

TEST(Layout, HasEveryNodeOnce) {
  for (const char* net :
       {"mesh:5", "torus:200", "torus:4x3", "mesh:3x4x5", "torus:3x2x4x3x2", "mesh:2x2,p=3",
        "fattree:k=4,levels=1", "fattree:k=4,levels=3", "dragonfly:a=4,h=2,p=2", "hyperx:3x4x2"}) {
    const Topology t = *make_topology(net);
    const Layout layout = lay_out(t);
    Nodes seen;
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    for (const Panel& panel : layout.panels) {
      EXPECT_TRUE(places.insert({panel.column, panel.row}).second) << net;
      EXPECT_LT(panel.column, layout.columns);
      EXPECT_LT(panel.row, layout.rows);
      EXPECT_LE(panel.rows.size(), layout.height);
      for (const auto& row : panel.rows) seen.insert(seen.end(), row.begin(), row.end());
    }
    std::sort(seen.begin(), seen.end());
    Nodes all(t.graph.node_count());
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(seen, all) << net;
  }
}

TEST(Layout, CubesAreSlices) {
  const Layout layout = lay_out(*make_topology("mesh:4x3x2"));
  ASSERT_EQ(layout.panels.size(), 2u);
  EXPECT_EQ(layout.panels[1].label, "z=1");
  EXPECT_EQ(layout.panels[1].rows[2], (Nodes{20, 21, 22, 23}));
  const Layout deep = lay_out(*make_topology("mesh:2x2x3x4"));
  EXPECT_EQ(deep.columns, 3u);
  EXPECT_EQ(deep.rows, 4u);
  EXPECT_EQ(deep.panels[5].label, "z=2 a=1");
}

TEST(Planes, AreThoseOfEqualY) {
  const Problem p = test_problem("torus:3x4x2", 24, {});
  const Planes planes = find_planes(p);
  ASSERT_EQ(planes.names.size(), 4u);
  EXPECT_EQ(planes.names[3], "y=3");
  for (std::uint32_t r = 0; r < 24; ++r) EXPECT_EQ(planes.of_rank[r], r / 3 % 4);
}

TEST(Planes, AreSharedWhereThereAreMany) {
  const Problem p = test_problem("mesh:2x100", 200, {});
  const Planes planes = find_planes(p);
  ASSERT_EQ(planes.names.size(), 64u);
  EXPECT_EQ(planes.names.front(), "y=0-1");
  EXPECT_EQ(planes.names.back(), "y=99");
  EXPECT_EQ(planes.of_rank.front(), 0u);
  EXPECT_EQ(planes.of_rank.back(), 63u);
  EXPECT_TRUE(std::is_sorted(planes.of_rank.begin(), planes.of_rank.end()));
}

TEST(Planes, WithoutRanksHaveNoColour) {
  Request request;
  for (std::uint32_t n = 3; n < 6; ++n) request.forbidden.push_back(NodeId(n));
  const Planes planes = find_planes(test_problem("mesh:3x9", 7, request));
  EXPECT_EQ(planes.names, (std::vector<std::string>{"y=0", "y=2", "y=3"}));
  EXPECT_EQ(planes.of_rank, (Nodes{0, 0, 0, 1, 1, 1, 2}));
}

TEST(Planes, HaveDifferentColours) {
  for (std::size_t n = 1; n <= 64; ++n) {
    const auto colours = plane_colours(n);
    ASSERT_EQ(colours.size(), n);
    EXPECT_EQ(std::set<std::string>(colours.begin(), colours.end()).size(), n);
  }
}

using Three = std::array<double, 3>;
using Sight = std::array<Three, 3>;

Three linear_light(const std::string& colour) {
  Three light{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    light[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return light;
}

Three times(const Sight& m, const Three& v) {
  Three made{};
  for (std::size_t i = 0; i < 3; ++i)
    made[i] = std::clamp(m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2], 0.0, 1.0);
  return made;
}

Three lab(const Three& light) {
  const Sight to_xyz = {
      {{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}}};
  Three f = times(to_xyz, light);  // Relative to white.
  for (double& t : f) t = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

TEST(Planes, AreToldApartWithEveryKindOfSight) {
  // Normal; without red, green, blue cones: Machado, Oliveira and Fernandes 2009, severity 1.
  const std::vector<std::pair<Sight, double>> sights = {{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 25},
                                                        {{{{0.152286, 1.052583, -0.204868},
                                                           {0.114503, 0.786281, 0.099216},
                                                           {-0.003882, -0.048116, 1.051998}}},
                                                         23},
                                                        {{{{0.367322, 0.860646, -0.227968},
                                                           {0.280085, 0.672501, 0.047413},
                                                           {-0.011820, 0.042940, 0.968881}}},
                                                         23},
                                                        {{{{1.255528, -0.076749, -0.178779},
                                                           {-0.078411, 0.930809, 0.147602},
                                                           {0.004733, 0.691367, 0.303900}}},
                                                         18}};
  auto colours = plane_colours(16);
  colours.push_back("#ffffff");  // A free node.
  for (const auto& [sight, least] : sights)
    for (std::size_t i = 0; i < colours.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Three a = lab(times(sight, linear_light(colours[i])));
        const Three b = lab(times(sight, linear_light(colours[j])));
        EXPECT_GE(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), least)
            << colours[i] << " " << colours[j];
      }
}

TEST(Picture, ShowsEveryRank) {
  const Problem p = test_problem("torus:4x3x2", 24, {});
  const std::string svg = draw(p);
  EXPECT_EQ(count(svg, "class=\"cell\""), 48u);
  EXPECT_EQ(count(svg, ">z=1<"), 2u);
  EXPECT_EQ(count(svg, ">y=2<"), 1u);
  EXPECT_EQ(count(svg, "rank 5, "), 2u);
  EXPECT_EQ(count(svg, "a &lt; b"), 2u);
  EXPECT_EQ(count(svg, ">free<"), 0u);
  EXPECT_EQ(svg, draw(p));
}

TEST(Picture, ShowsFreeForbiddenAndSharedNodes) {
  const Problem p = test_problem("mesh:4x4", 20, slots(3, {NodeId(2), NodeId(7)}));
  const std::string svg = draw(p);
  EXPECT_EQ(count(svg, "class=\"cell\""), 40u);
  EXPECT_EQ(count(svg, ">free<"), 1u);
  EXPECT_EQ(count(svg, ">forbidden<"), 1u);
  EXPECT_EQ(count(svg, "<g class=\"no\">"), 2u);
}

TEST(Picture, StaysSmall) {
  EXPECT_LT(draw(test_problem("torus:16x16x16", 4096, {})).size(), 1'000'000u);
  EXPECT_LT(draw(test_problem("torus:64x32x32", 65536, {})).size(), 6'000'000u);
  const std::string shared = draw(test_problem("torus:16x16x16", 100'000, slots(25)));
  EXPECT_LT(shared.size(), 6'000'000u);
  EXPECT_EQ(count(shared, "colour of most of its ranks"), 1u);
  const std::string large = draw(test_problem("torus:64x64x32", 131'072, {}));
  EXPECT_LT(large.size(), 6'000'000u);
  EXPECT_EQ(count(large, "2 nodes of a row are drawn as one"), 1u);
}

TEST(Picture, OfAnything) {
  for (const char* net : {"mesh:2", "torus:200", "torus:3x2x4x3x2", "fattree:k=4,levels=3",
                          "dragonfly:a=4,h=2,p=2", "hyperx:3x4x2", "mesh:100x100"})
    EXPECT_NE(draw(test_problem(net, 1, {})).find("</svg>"), std::string::npos) << net;
  const Problem p = test_problem("mesh:2x2", 0, {});
  EXPECT_NE(draw_placement(p, {"", {}}).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace weft::map
