// SPDX-License-Identifier: Apache-2.0
#include "weft/output/plot/chart.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

// A minimal XML checker: tags nest and close, attributes are quoted, no stray '<' or '&'.
std::string complaint(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size();) {
    if (xml[i] == '&') {
      const std::size_t end = xml.find(';', i);
      if (end == std::string::npos || end - i > 6) return "stray & at " + xml.substr(i, 20);
      i = end + 1;
      continue;
    }
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    if (xml.compare(i, 9, "<![CDATA[") == 0) {
      i = xml.find("]]>", i) + 3;
      continue;
    }
    const std::size_t end = xml.find('>', i);
    if (end == std::string::npos) return "tag without end";
    const std::string tag = xml.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag[0] == '!') continue;
    const std::string name =
        tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /\n", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag.find('<') != std::string::npos) return "stray < in " + tag;
    std::size_t quotes = 0;
    for (const char c : tag) quotes += c == '"' ? 1 : 0;
    if (quotes % 2 != 0) return "quotes in " + tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected <" + tag + ">";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

Chart sample(std::size_t series) {
  Chart chart{.title = "a <b> & \"c\" \x01",
              .subtitle = "it's",
              .x = {.label = "load"},
              .y = {.label = "latency", .max = 100}};
  for (std::size_t s = 0; s < series; ++s) {
    Series one{.label = "series <" + std::to_string(s) + ">"};
    for (int i = 0; i < 5; ++i)
      one.points.push_back({.x = i * 0.1,
                            .y = i == 3 ? std::nan("") : 10.0 * i * i,
                            .hollow = i == 2,
                            .note = "x & y"});
    chart.series.push_back(one);
  }
  chart.rules.push_back({.at = 30, .label = "3 x zero load"});
  chart.rules.push_back({.at = 0.2, .vertical = true, .label = "capacity"});
  return chart;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++times;
  return times;
}

TEST(Chart, IsWellFormedWhateverItSays) {
  for (const std::size_t series : {0u, 1u, 2u, 9u})
    EXPECT_EQ(complaint(to_svg(sample(series))), "");
  EXPECT_EQ(complaint(to_svg(Chart{})), "");
  Chart log = sample(2);
  log.y.log = true;
  EXPECT_EQ(complaint(to_svg(log)), "");
}

TEST(Chart, JudgeSeesErrors) {
  EXPECT_NE(complaint("<a><b></a>"), "");
  EXPECT_NE(complaint("<a>"), "");
  EXPECT_NE(complaint("<a x=\"1></a>"), "");
  EXPECT_EQ(complaint("<a x=\"1\"><b/></a>"), "");
}

TEST(Chart, PointsBeyondTheLimitHaveNoMarker) {
  // Five points: one is NaN, one (160) lies above the limit of 100.
  const std::string svg = to_svg(sample(1));
  EXPECT_EQ(count(svg, "<g class=\"mark"), 3u);
  EXPECT_EQ(count(svg, "mark hollow"), 1u);
}

TEST(Chart, APointThatIsTooHighIsMarkedAtTheEdge) {
  Chart chart = sample(1);
  chart.rules.clear();
  chart.series[0].points.push_back(
      {.x = 0.5, .y = std::numeric_limits<double>::infinity(), .hollow = true, .note = "full"});
  chart.hollow_means = "saturated";
  const std::string svg = to_svg(chart);
  EXPECT_EQ(complaint(svg), "");
  EXPECT_EQ(count(svg, "mark hollow"), 3u);  // With the one of the legend.
  EXPECT_EQ(count(svg, "cy=\"62.0\""), 1u);  // The frame begins there.
  EXPECT_EQ(count(svg, "L776.0 62.0"), 1u);  // The line ends in it.
  EXPECT_EQ(count(svg, ">saturated<"), 1u);
  EXPECT_EQ(count(to_svg(sample(1)), ">saturated<"), 0u);
}

// Otherwise a line from the highest point to the edge would look flat.
TEST(Chart, ThereIsRoomBelowAPointAtTheEdge) {
  Chart chart{.series = {{.points = {{0, 10}, {1, 100}}}}};
  EXPECT_EQ(count(to_svg(chart), ">150<"), 0u);
  chart.series[0].points.push_back({2, std::numeric_limits<double>::infinity(), true});
  EXPECT_EQ(count(to_svg(chart), ">150<"), 1u);
}

// A shape without an inside would look the same, hollow or not.
TEST(Chart, EveryMarkerCanBeHollow) {
  for (std::size_t i = 0; i < 7; ++i) {
    Chart chart{.series = {{.points = {{1, 1}}, .style = SeriesStyle{i, i, i}}}};
    const std::string svg = to_svg(chart);
    const std::size_t mark = svg.find("<g class=\"mark");
    const std::string shape = svg.substr(mark, svg.find("</g>", mark) - mark);
    EXPECT_TRUE(shape.find("circle") != std::string::npos ||
                shape.find("z\"/>") != std::string::npos)
        << shape;
  }
}

TEST(Chart, ASecondUnitHasTicksOfItsOwn) {
  Chart chart = sample(1);
  chart.x.second = SecondScale{"GB/s", 25};
  chart.y.second = SecondScale{"ns", 2.56};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(complaint(svg), "");
  for (const char* text : {">GB/s<", ">ns<", ">10<", ">250<"})
    EXPECT_EQ(count(svg, text), 1u) << text;
  chart.x.log = chart.y.log = true;
  EXPECT_EQ(complaint(to_svg(chart)), "");
}

TEST(Chart, SeriesOfOneRunHaveOneColour) {
  Chart chart = sample(4);
  for (std::size_t i = 0; i < 4; ++i) chart.series[i].style = SeriesStyle{i / 2, i % 2, i % 2};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(count(svg, "<g class=\"c0\">"), 4u);  // Two lines, two entries of the legend.
  EXPECT_EQ(count(svg, "<g class=\"c2\">"), 0u);
}

// The texts of vertical lines, by the rows that they stand in.
TEST(Chart, LabelsOfLinesThatAreNearHaveRowsOfTheirOwn) {
  Chart chart = sample(1);
  chart.rules = {{.at = 0.2, .vertical = true, .label = "p50"},
                 {.at = 0.201, .vertical = true, .label = "p99"}};
  const std::string svg = to_svg(chart);
  const auto row_of = [&](const std::string& label) {
    const std::size_t end = svg.find(">" + label + "<"), begin = svg.rfind(" y=\"", end);
    return svg.substr(begin, end - begin);
  };
  EXPECT_NE(row_of("p50"), row_of("p99"));
}

TEST(Chart, SeveralSeriesHaveALegend) {
  EXPECT_EQ(count(to_svg(sample(1)), "series &lt;0&gt;"), 0u);
  EXPECT_EQ(count(to_svg(sample(2)), "series &lt;1&gt;"), 1u);
}

TEST(Chart, StepsHaveAnOutlineAndNoMarkers) {
  Chart chart{.x = {.label = "bytes"}, .y = {.label = "links"}};
  chart.series.push_back({.label = "before", .points = {{0, 4}, {1, 2}, {2, 0}}, .steps = true});
  chart.series.push_back({.label = "after", .points = {{0, 1}, {1, 0}}, .steps = true});
  chart.series.push_back({.label = "nothing", .steps = true});
  const std::string svg = to_svg(chart);
  EXPECT_EQ(complaint(svg), "");
  EXPECT_EQ(count(svg, "class=\"area\""), 2u);
  EXPECT_EQ(count(svg, "<g class=\"mark"), 0u);
}

TEST(Chart, PageOfParts) {
  const std::vector<std::string> parts = {"<p>one</p>", "<p>two</p>"};
  const std::string page = make_page("a < b", parts, "");
  EXPECT_EQ(complaint(page), "");
  EXPECT_LT(page.find("<p>one</p>"), page.find("<p>two</p>"));
}

TEST(Chart, SameChartSameBytes) {
  EXPECT_EQ(to_svg(sample(3)), to_svg(sample(3)));
}

TEST(Chart, PageHoldsItselfAndLoadsNothing) {
  const std::vector<Chart> charts = {sample(2), sample(1)};
  const std::string page = to_html("title", charts, "remark <1>");
  EXPECT_EQ(complaint(page), "");
  EXPECT_EQ(count(page, "<svg "), 2u);
  EXPECT_EQ(count(page, "src="), 0u);
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg"));
}

}  // namespace
}  // namespace weft
