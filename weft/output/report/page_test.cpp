// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <weft/output/report/heat.hpp>
#include <weft/output/report/load.hpp>
#include <weft/output/report/merge_charts.hpp>
#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/raster.hpp>
#include <weft/output/report/sheet.hpp>
#include <weft/output/report/tables.hpp>
#include <weft/output/report/test_record.hpp>

namespace weft::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(Deflate, CanBeUndone) {
  const std::string text(100'000, 'x');
  const std::string packed = deflate(text);
  EXPECT_LT(packed.size(), 1000U);
  std::string back(text.size(), '\0');
  uLongf size = back.size();
  ASSERT_EQ(::uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                         reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(back, text);
}

TEST(Pretty, HasUnits) {
  EXPECT_EQ(pretty(138'718'400, "ps"), "138.7 us");
  EXPECT_EQ(pretty(2.5e15, "ps"), "2500 s");
  EXPECT_EQ(pretty(251'695'104, "B"), "251.7 MB");
  EXPECT_EQ(pretty(0.0738, "share"), "7.38 %");
  EXPECT_EQ(pretty(39936, "1"), "39936");
}

class Page : public TestRecord {
 protected:
  RunView view() const {
    write_record();
    auto view = load(folder, {});
    EXPECT_TRUE(view);
    view->name = "<a & \"b\">";
    return *std::move(view);
  }
};

TEST_F(Page, DataStandsInThePlaceOfTheMarker) {
  RunView run = view();
  run.remarks.emplace_back("</script><script>alert(1)</script>");
  const auto page = make_page("<body><!--weft-data--><p>", {"t", "weft", false}, {&run, 1});
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("<body><script type=\"application/json\" id=\"weft-data\">"));
  EXPECT_THAT(*page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(*page, HasSubstr("id=\"weft-block-0\""));
  EXPECT_TRUE(page->ends_with("<p>"));
  const std::size_t begin = page->find('{'), end = page->find("</script>");
  const Json index = Json::parse(page->substr(begin, end - begin));
  EXPECT_EQ(index["runs"][0]["name"], "<a & \"b\">");
  EXPECT_EQ(index["runs"][0]["remarks"][0], "</script><script>alert(1)</script>");
  EXPECT_EQ(index["runs"][0]["timeline"]["ranks"], 2);
}

TEST(PageTitle, NamesEveryRun) {
  std::vector<RunView> runs(1);
  runs[0].name = "a";
  EXPECT_EQ(page_title(runs), "a");
  for (const char* name : {"b", "c", "d", "e", "f", "g", "h"}) runs.emplace_back().name = name;
  EXPECT_EQ(page_title({runs.data(), 2}), "a and b");
  EXPECT_EQ(page_title(runs), "a, b, c, d, e, f, g and h");
}

TEST_F(Page, ATemplateWithoutAPlaceIsRefused) {
  const RunView run = view();
  EXPECT_FALSE(make_page("<body>", {"t", "weft", false}, {&run, 1}));
  EXPECT_FALSE(make_page("<!--weft-data--><!--weft-data-->", {"t", "weft", false}, {&run, 1}));
}

TEST_F(Page, EveryPictureIsDrawn) {
  const RunView run = view();
  const auto names = pictures_of(run);
  EXPECT_GE(names.size(), 4U);
  for (const PictureName& name : names) {
    const auto svg = draw(run, {name.id, std::nullopt});
    ASSERT_TRUE(svg) << name.id;
    EXPECT_THAT(*svg, HasSubstr("</svg>")) << name.id;
    EXPECT_THAT(*svg, Not(HasSubstr("var("))) << name.id;
    EXPECT_THAT(*svg, Not(HasSubstr("<a & "))) << name.id;
    if (!has_png()) continue;
    const auto png = to_png(*svg, 1);
    ASSERT_TRUE(png) << name.id;
    EXPECT_EQ(png->substr(1, 3), "PNG") << name.id;
  }
  const auto none = draw(run, {"tea", std::nullopt});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("timeline"));
}

TEST(Pictures, TheTimelineNamesFinalize) {
  RunView run;
  run.name = "ending";
  const std::string names[] = {"MPI_Init", "MPI_Finalize"};
  const CallSpan spans[] = {{0, 10, 0, 0}, {500, 3000, 2000, 1}};
  run.timeline.emplace();
  run.timeline->add_rank(names, spans, 0);
  const auto svg = draw(run, {"timeline", std::nullopt});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr(">finalize<"));
  EXPECT_THAT(*svg, HasSubstr(">other calls<"));
}

// The one link in use is full in one of three intervals: a third on average.
TEST_F(Page, ColoursAreAbsoluteUnlessAskedOtherwise) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5: there is no heat map";
  const RunView run = view();
  const auto absolute = draw(run, {"link-heat", std::nullopt});
  ASSERT_TRUE(absolute);
  EXPECT_THAT(*absolute, HasSubstr(">100 %<"));
  EXPECT_THAT(*absolute, HasSubstr("largest here: 33.3 %"));
  const auto relative = draw(run, {"link-heat", std::nullopt, true});
  ASSERT_TRUE(relative);
  EXPECT_THAT(*relative, HasSubstr(">33.3 %<"));
  EXPECT_THAT(*relative, Not(HasSubstr(">100 %<")));
}

TEST(Colours, AreThoseOfThePage) {
  EXPECT_EQ(to_hex(heat_colour(0)), "#e6e8ec");
  EXPECT_EQ(to_hex(heat_colour(1)), "#440154");
  EXPECT_EQ(to_hex(heat_colour(0.5)), "#25848e");
  EXPECT_EQ(to_hex(order_colour(0)), "#440154");
}

// Where the named text or tile of a picture stands.
double y_of(const std::string& svg, const std::string& what) {
  const std::size_t end = svg.find(what), begin = svg.rfind(" y=\"", end);
  return end == std::string::npos ? -1 : std::stod(svg.substr(begin + 4));
}

TEST(Pictures, ATreeHasARowForEachLevel) {
  RunView run;
  run.name = "tree";
  std::vector<std::uint32_t> kept;
  run.network = without_gaps(facts_of(*make_topology("fattree:radix=8,levels=2")), kept);
  const auto svg = draw(run, {"network", std::nullopt});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, Not(HasSubstr("<circle")));
  const double low = y_of(*svg, "<title>L1.0<"), high = y_of(*svg, "<title>L2.0<");
  EXPECT_GT(low, high + 100);
  EXPECT_EQ(y_of(*svg, "<title>L1.7<"), low);
  EXPECT_GT(y_of(*svg, ">L1.0</text>"), low + 12);  // Below the lowest row,
  EXPECT_LT(y_of(*svg, ">L2.0</text>"), high);      // above the others.
}

// Where the named dot of a picture stands.
Spot spot_of(const std::string& svg, const std::string& name) {
  const std::size_t end = svg.find("<title>" + name + "<");
  if (end == std::string::npos) return {-1, -1};
  return {std::stod(svg.substr(svg.rfind(" cx=\"", end) + 5)),
          std::stod(svg.substr(svg.rfind(" cy=\"", end) + 5))};
}

TEST(Pictures, ADragonflyIsDrawnByGroups) {
  RunView run;
  std::vector<std::uint32_t> kept;
  const auto topology = make_topology("dragonfly:a=4,h=2,p=2");
  ASSERT_TRUE(topology) << topology.error().text();
  run.network = without_gaps(facts_of(*topology), kept);
  const NetworkFacts& network = *run.network;
  ASSERT_EQ(network.group.size(), network.routers);
  const auto svg = draw(run, {"network", std::nullopt});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr(">group 0<"));
  EXPECT_THAT(*svg, HasSubstr(">group 8<"));
  // Every router is nearer to the centre of its own group than to that of any other.
  std::vector<Spot> centre(9, Spot{0, 0});
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const Spot at = spot_of(*svg, network.names[r]);
    ASSERT_GT(at.x, 0) << network.names[r];
    Spot& own = centre[static_cast<std::size_t>(network.group[r])];
    own = {own.x + at.x / 4, own.y + at.y / 4};
  }
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const Spot at = spot_of(*svg, network.names[r]);
    const auto apart = [&](const Spot& to) { return std::hypot(at.x - to.x, at.y - to.y); };
    const auto group = static_cast<std::size_t>(network.group[r]);
    for (std::size_t g = 0; g < centre.size(); ++g)
      EXPECT_TRUE(g == group || apart(centre[group]) < 0.8 * apart(centre[g])) << network.names[r];
  }
}

RunView busy_run(const char* network, std::size_t busy_link) {
  RunView run;
  run.name = "run";
  std::vector<std::uint32_t> kept;
  run.network = without_gaps(facts_of(*make_topology(network)), kept);
  run.heat.emplace();
  run.heat->end_ps = {1000};
  run.heat->links.assign(run.network->links(), 10);
  run.heat->links[busy_link] = 204;  // 80 %
  run.heat->buffers.assign(run.network->routers, 0);
  return run;
}

TEST(Pictures, AHeatMapNamesTheBusiestLink) {
  for (const char* const spec : {"dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=2", "hyperx:4x4",
                                 "fattree:k=4,levels=2", "torus:4x4x2", "random:n=12,d=3"}) {
    const RunView run = busy_run(spec, 7);
    const NetworkFacts& network = *run.network;
    const std::string link =
        router_name(network, static_cast<std::uint32_t>(network.link_from[7])) + " to " +
        router_name(network, static_cast<std::uint32_t>(network.link_to[7]));
    const auto svg = draw(run, {"link-heat", std::nullopt});
    ASSERT_TRUE(svg) << spec;
    EXPECT_THAT(*svg, HasSubstr("busiest link between routers: " + link + ", 80 %")) << spec;
    EXPECT_THAT(*svg, HasSubstr(">busiest: " + link + "<")) << spec;
  }
}

// A level of a hundred switches has no room for their names.
TEST(Pictures, NamesThatWouldCoverOthersAreLeftOut) {
  RunView run;
  std::vector<std::uint32_t> kept;
  run.network = without_gaps(facts_of(*make_topology("fattree:radix=32,levels=2,taper=2")), kept);
  const auto svg = draw(run, {"network", std::nullopt});
  ASSERT_TRUE(svg);
  std::vector<std::pair<double, double>> ends;
  for (std::size_t at = svg->find("class=\"name\">L1."); at != std::string::npos;
       at = svg->find("class=\"name\">L1.", at + 1)) {
    const double x = std::stod(svg->substr(svg->rfind(" x=\"", at) + 4));
    const std::size_t text = at + 13, length = svg->find('<', text) - text;
    ends.emplace_back(x, x + 6 * static_cast<double>(length));
  }
  ASSERT_GT(ends.size(), 10U);
  for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_GE(ends[i].first, ends[i - 1].second);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++times;
  return times;
}

// Eight runs of two series each, with one line that all share and one of their own.
std::vector<RunView> runs_of_charts(std::size_t runs) {
  std::vector<RunView> views(runs);
  for (std::size_t i = 0; i < runs; ++i) {
    views[i].name = fmt::format("run{}", i);
    ChartView chart{"use", {}, "ps", "share"};
    chart.chart.title = "Use";
    for (const char* name : {"mean", "fullest"})
      chart.chart.series.push_back({name, {{0, 0.1}, {1000, 0.2}}, true});
    chart.chart.rules = {{500, true, "p50"}, {800 + static_cast<double>(i), true, "p99"}};
    views[i].charts = {std::move(chart)};
  }
  return views;
}

TEST(Pictures, AColourIsARun) {
  const auto views = runs_of_charts(8);
  const auto svg = draw(views, {"use", std::nullopt});
  ASSERT_TRUE(svg) << svg.error().text();
  for (std::size_t run = 0; run < 8; ++run) {
    // Two entries of the legend, and the line of p99; the curves' groups have a clip path.
    EXPECT_EQ(count(*svg, fmt::format("<g class=\"c{}\">", run)), 3U);
    EXPECT_EQ(count(*svg, fmt::format("<g class=\"c{}\" clip-path", run)), 2U);
    EXPECT_EQ(count(*svg, fmt::format(">run{}: p99<", run)), 1U);
  }
  EXPECT_EQ(count(*svg, ">p50<"), 1U);
  EXPECT_THAT(*svg, HasSubstr("run0, run1, run2, run3, run4, run5, run6 and run7"));
}

TEST(Pictures, OfSeveralRunsThereAreCharts) {
  auto views = runs_of_charts(2);
  const auto none = draw(views, {"tea", std::nullopt});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(),
              HasSubstr("no run has a picture 'tea'; of several runs there are use"));
  std::vector<std::uint32_t> kept;
  views[0].network = without_gaps(facts_of(*make_topology("torus:4")), kept);
  const auto one = draw(views, {"network", std::nullopt});
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().text(), HasSubstr("'network' shows one run: give one"));
  EXPECT_TRUE(draw(std::span(views).first(1), {"network", std::nullopt}));
}

TEST(Pictures, ChartsOfDifferentCyclesShareOneUnit) {
  auto views = runs_of_charts(2);
  for (std::size_t i = 0; i < 2; ++i) {
    ChartView& view = views[i].charts[0];
    view.y_unit = "cycles";
    view.y_second_unit = "ps";
    view.chart.y = {"latency", false, 0, std::nullopt,
                    SecondScale{"latency", i == 0 ? 1000.0 : 2000.0}};
  }
  const auto mixed = merge_charts(views, "use");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->y_unit, "ps");
  EXPECT_FALSE(mixed->chart.y.second);
  EXPECT_EQ(mixed->chart.series[0].points[0].y, 100);
  EXPECT_EQ(mixed->chart.series[2].points[0].y, 200);
  views[1] = views[0];
  EXPECT_TRUE(merge_charts(views, "use")->chart.y.second);
}

TEST_F(Page, TablesForScripts) {
  const RunView run = view();
  const auto calls = table_csv(run, "calls");
  ASSERT_TRUE(calls);
  EXPECT_THAT(*calls, testing::StartsWith(
                          "call,calls,\"time, all ranks [ps]\",time per call [ps],bytes [B],"
                          "longest of a rank [ps],of rank\n"
                          "MPI_Recv,2,900,450.0,3000,,\n"));
  const auto waiting = table_csv(run, "waiting");
  ASSERT_TRUE(waiting);
  EXPECT_THAT(*waiting, HasSubstr("waited,0.0,5.0\n"));
  EXPECT_FALSE(table_csv(run, "tea"));
  EXPECT_THAT(list_contents({&run, 1}), HasSubstr("waiting"));
  EXPECT_EQ(Json::parse(to_json({&run, 1}))["runs"][0]["kind"], "sim");
}

TEST(Raster, CellsKeepTheirColours) {
  Raster raster(2, 1, {255, 255, 255});
  raster.set(1, 0, {1, 2, 3});
  const Raster large = raster.enlarged(10, 5);
  EXPECT_EQ(large.width(), 20U);
  EXPECT_EQ(large.at(9, 0).red, 255);
  EXPECT_EQ(large.at(10, 4).blue, 3);
  EXPECT_EQ(raster.to_png().substr(0, 8), "\x89PNG\r\n\x1a\n");
}

}  // namespace
}  // namespace weft::report
