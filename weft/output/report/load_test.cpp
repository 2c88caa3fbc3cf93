// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <weft/output/report/load.hpp>
#include <weft/output/report/test_record.hpp>

namespace weft::report {
namespace {

using testing::HasSubstr;

class Load : public TestRecord {};

TEST_F(Load, AWholeRecord) {
  write_record();
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_EQ(view->kind, "sim");
  EXPECT_EQ(view->facts[0].text, "halo");
  ASSERT_TRUE(view->timeline);
  EXPECT_EQ(view->timeline->ranks(), 2U);
  ASSERT_TRUE(view->matrix);
  EXPECT_EQ(view->matrix->to, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(view->tables[0].id, "calls");
  EXPECT_EQ(view->tables[0].rows[0][0], "MPI_Recv");  // Sorted by time, longest first.
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5: there are no series to compare";
  ASSERT_TRUE(view->heat);
  ASSERT_EQ(view->heat->frames(), 3U);
  EXPECT_EQ(view->heat->links[8], 255);  // Second frame, first link.
  EXPECT_EQ(view->heat->links[0], 0);
  EXPECT_EQ(view->heat->buffers[11], 128);
  EXPECT_TRUE(view->remarks.empty());
}

// More hops or a busier link may come with a shorter time: only of times is less known to be
// better.
TEST_F(Load, OnlyTimesHaveABetterSide) {
  write("summary.json", R"({"weft":"sim","program":"halo","program_time_ps":3,"messages":3,
    "protocols":{"eager":2,"rendezvous":1,"unexpected":0},
    "packet_hops":7,"waiting_ps":{"mean":1,"most":2},
    "processor_in_mpi_ps":{"mean":1,"most":2},"connections":{"most":3,"held_mean":2},
    "latency":{"p50_ps":1,"p99_ps":2,"max_ps":3,"buckets":[]},
    "links":{"efficiency":0.1,"busiest_efficiency":0.2,"busiest":"a to b"}})");
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  ASSERT_EQ(view->facts.size(), 19U);
  for (const Fact& fact : view->facts)
    EXPECT_EQ(fact.better, fact.key.ends_with("_ps") || fact.key.starts_with("waiting") ||
                                   fact.key.starts_with("processor") ||
                                   fact.key.starts_with("latency")
                               ? "less"
                               : "")
        << fact.key;
}

TEST_F(Load, AlgorithmsOfCollectives) {
  write("summary.json", R"({"weft":"run","program":"halo","ranks":4,"algorithms":{
    "allreduce":{"rabenseifner":1,"ring":3},"alltoall":{"bruck":2}}})");
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  std::vector<std::string> texts;
  for (const Fact& fact : view->facts)
    texts.push_back(fact.key + "|" + fact.label + "|" + fact.text);
  EXPECT_THAT(texts,
              testing::ElementsAre(
                  "program|Program|halo",
                  "algorithms.allreduce|Algorithm of allreduce|rabenseifner (1 call), ring (3)",
                  "algorithms.alltoall|Algorithm of alltoall|bruck (2 calls)", "ranks|Ranks|4"));
}

TEST_F(Load, WhatPacketsWaitedFor) {
  write_record();
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  const auto table = std::find_if(view->tables.begin(), view->tables.end(),
                                  [](const Table& one) { return one.id == "packet-waiting"; });
  ASSERT_NE(table, view->tables.end());
  EXPECT_EQ(table->columns.size(), table->rows.at(1).size());
  EXPECT_EQ(table->rows.at(1), (std::vector<Json>{"ejection", 2, 5, 7, "(3) to n3", 12}));
}

TEST_F(Load, NodeLinksAsHeatTableAndCurves) {
  write_record();
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  const auto table = std::find_if(view->tables.begin(), view->tables.end(),
                                  [](const Table& one) { return one.id == "node-links"; });
  ASSERT_NE(table, view->tables.end());
  ASSERT_EQ(table->columns.size(), 12U);
  EXPECT_EQ(table->rows.at(0).at(10), 0.5);
  EXPECT_EQ(table->rows.at(0).at(11), 0.0);
  EXPECT_EQ(table->rows.at(1).at(11), 1.0 / 3);
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5: there are no series to compare";
  ASSERT_TRUE(view->heat && view->heat->node_links);
  EXPECT_EQ(*view->heat->node_links,
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255}));
  const auto chart = std::find_if(view->charts.begin(), view->charts.end(),
                                  [](const ChartView& one) { return one.id == "node-link-use"; });
  ASSERT_NE(chart, view->charts.end());
  ASSERT_EQ(chart->chart.series.size(), 4U);
  EXPECT_EQ(chart->chart.series[3].label, "fullest ejection");
  EXPECT_EQ(chart->chart.series[3].points.at(2).y, 1.0);
  EXPECT_EQ(chart->chart.series[2].points.at(2).y, 0.25);
  EXPECT_EQ(chart->chart.series[1].points.at(2).y, 0.0);
}

// A record of an earlier version.
TEST_F(Load, ARecordWithoutNodeLinks) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5";
  write_record();
  std::filesystem::remove(folder + "/node_links.csv");
  NetworkFacts network = facts_of(*make_topology("torus:4"));
  network.link_byte_per_s.assign(network.links(), 1e9);
  network.router_buffer_bytes.assign(network.routers, 1000);
  SeriesHeader header;
  header.links = network.links();
  header.routers = network.routers;
  header.nodes = network.node_router.size();
  {
    auto writer = SeriesWriter::create(folder + "/series.raw", header);
    ASSERT_TRUE(writer);
    SeriesSample sample;
    sample.links.resize(header.links);
    sample.buffers.resize(header.routers);
    sample.injected.resize(header.nodes);
    sample.ejected.resize(header.nodes);
    ASSERT_TRUE(writer->append(sample));
  }
  ASSERT_TRUE(convert_series(folder, network));
  const auto view = load(folder, {});
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_FALSE(view->heat->node_links);
}

TEST_F(Load, FramesArePutTogetherWhereRoomIsShort) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5";
  write_record(20);
  Limits limits;
  limits.heat_bytes = 1;  // Then there are at most eight frames, of three samples each.
  const auto view = load(folder, limits);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->heat->frames(), 7U);
  EXPECT_EQ(view->heat->end_ps.front(), 3'000'000);
  EXPECT_EQ(view->heat->end_ps.back(), 20'000'000);
  EXPECT_EQ(view->heat->links[0], 85);     // Fully loaded in one of three intervals.
  EXPECT_EQ(view->heat->buffers[3], 128);  // The maximum of the three.
  EXPECT_THAT(view->remarks.at(0), HasSubstr("20 intervals are shown as 7 frames"));
}

TEST_F(Load, RanksAndCallsArePutTogetherWhereRoomIsShort) {
  write_record();
  Limits limits;
  limits.pairs = 1;
  limits.spans = 1;
  const auto view = load(folder, limits);
  ASSERT_TRUE(view);
  EXPECT_GT(view->matrix->bin, 1U);
  EXPECT_EQ(view->matrix->bytes, (std::vector<float>{3000}));
  EXPECT_EQ(view->timeline->ranks(), 2U);
}

TEST_F(Load, SaysWhatWasNotRecorded) {
  write_record();
  for (const char* name : {"/series.h5", "/timeline.raw", "/traffic.txt"})
    std::filesystem::remove(folder + name);
  const auto view = load(folder, {});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->remarks.size(), 3U);
  for (const std::string& remark : view->remarks) EXPECT_THAT(remark, HasSubstr("--record"));
}

TEST_F(Load, LatencyIsAStepForEachBucket) {
  write_record();
  const auto view = load(folder, {});
  ASSERT_TRUE(view);
  const auto& points = view->charts[0].chart.series[0].points;
  ASSERT_EQ(view->charts[0].id, "latency");
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].x, 100);
  EXPECT_EQ(points[0].y, 2);
  EXPECT_EQ(points[1].y, 0);
  EXPECT_EQ(points[2].x, 300);
  EXPECT_EQ(points[3].y, 0);
}

TEST_F(Load, SweepsMapsAndProbes) {
  const auto sweep = load(write("t.json", R"({"format":"weft-traffic-1","curves":[
    {"label":"dor","network":"mesh:4x4","routing":"dor","vcs":1,"pattern":"uniform",
     "points":[{"load_flit_per_node_cycle":0.1,"latency_cycles":50,
                "accepted_flit_per_node_cycle":0.1,"state":"steady"},
               {"load_flit_per_node_cycle":0.2,"latency_cycles":null}]}]})"),
                          {});
  ASSERT_TRUE(sweep) << sweep.error().text();
  EXPECT_EQ(sweep->kind, "traffic");
  EXPECT_EQ(sweep->charts[0].chart.series[0].points.size(), 1U);
  const auto map = load(write("m.json", R"({"format":"weft-map-report","network":"torus:2x2",
    "routing":"dor","objective":"paper","ranks":2,"candidates":[{"name":"a","value":1}],
    "before":{"name":"identity","hops":2,"hop_bytes":20,"link_max":10,"link_mean":5,"value":4,
              "nodes":[0,3]},
    "after":{"name":"a","hops":1,"hop_bytes":10,"link_max":10,"link_mean":5,"value":2,
             "nodes":[0,1]}})"),
                        {});
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_EQ(map->placement->after, (std::vector<std::uint32_t>{0, 1}));
  ASSERT_TRUE(map->network);
  EXPECT_EQ(map->network->routers, 4U);
  // A computer with a card in each of two planes is drawn once.
  const auto planes = load(write("n.json", R"({"format":"weft-map-report",
    "network":"torus:2x2,planes=2","routing":"dor","objective":"paper","ranks":2,"candidates":[],
    "before":{"name":"identity","hops":2,"hop_bytes":20,"link_max":10,"link_mean":5,"value":4,
              "nodes":[0,3]},
    "after":{"name":"a","hops":1,"hop_bytes":10,"link_max":10,"link_mean":5,"value":2,
             "nodes":[0,1]}})"),
                           {});
  ASSERT_TRUE(planes && planes->network);
  EXPECT_EQ(planes->network->routers, 4U);
  EXPECT_EQ(planes->network->node_router, (std::vector<std::int32_t>{0, 1, 2, 3}));
  const auto probe = load(write("p.json", R"({"weft":"probe","tree":true,"host_bit_per_s":1e9,
    "counts":{"round_trips":5,"seconds":0.5},"remarks":["odd"],
    "hosts":[{"name":"a","on":0,"sure":1},{"name":"b","on":1,"sure":1}],
    "switches":[{"name":"s"},{"name":"t"}],
    "links":[{"a":0,"b":1,"latency_ns":50,"rate_bit_per_s":1e9}]})"),
                          {});
  ASSERT_TRUE(probe) << probe.error().text();
  EXPECT_EQ(probe->network->family, NetworkFacts::Family::tree);
  EXPECT_EQ(probe->remarks, std::vector<std::string>{"odd"});
}

// Two curves, of which the second is saturated at its second load, and what a cycle and flit are.
std::string sweep_text(const char* first, const char* second) {
  const auto curve = [](const char* label, const char* units) {
    return fmt::format(R"({{"label":"{}","network":"n","routing":"r","vcs":1,"pattern":"p",{}
      "points":[{{"load_flit_per_node_cycle":0.1,"latency_cycles":50,"state":"steady",
                  "accepted_flit_per_node_cycle":0.1}},
                {{"load_flit_per_node_cycle":0.5,"state":"saturated",
                  "accepted_flit_per_node_cycle":0.4}}]}})",
                       label, units);
  };
  return fmt::format(R"({{"format":"weft-traffic-1","curves":[{},{}]}})", curve("a", first),
                     curve("b", second));
}

TEST_F(Load, SaturatedPointsOfSweepsAreMarked) {
  constexpr const char* units = R"("cycle_ps":2000,"flit_bytes":8,)";
  const auto sweep = load(write("t.json", sweep_text(units, units)), {});
  ASSERT_TRUE(sweep) << sweep.error().text();
  const Chart &latency = sweep->charts[0].chart, &accepted = sweep->charts[1].chart;
  ASSERT_EQ(latency.series[1].points.size(), 2U);
  EXPECT_TRUE(latency.series[1].points[1].hollow);
  EXPECT_TRUE(std::isinf(latency.series[1].points[1].y));
  EXPECT_TRUE(accepted.series[1].points[1].hollow);
  EXPECT_FALSE(accepted.series[1].points[0].hollow);
  EXPECT_THAT(latency.hollow_means, HasSubstr("saturated"));
}

TEST_F(Load, SweepsHaveASecondUnit) {
  constexpr const char* units = R"("cycle_ps":2000,"flit_bytes":8,)";
  const auto sweep = load(write("t.json", sweep_text(units, units)), {});
  ASSERT_TRUE(sweep) << sweep.error().text();
  const ChartView& latency = sweep->charts[0];
  EXPECT_EQ(latency.y_unit, "cycles");
  ASSERT_TRUE(latency.chart.x.second && latency.chart.y.second);
  EXPECT_EQ(latency.chart.x.second->factor, 4e9);
  EXPECT_EQ(latency.chart.y.second->factor, 2000);
  EXPECT_EQ(latency.x_second_unit, "B/s");
  EXPECT_EQ(sweep->tables[1].rows[0].back(), 100'000);  // Latency in ps.
  // Where cycles differ there is only one unit that all curves have.
  const auto mixed =
      load(write("m.json", sweep_text(units, R"("cycle_ps":1000,"flit_bytes":8,)")), {});
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->charts[0].y_unit, "ps");
  EXPECT_FALSE(mixed->charts[0].chart.x.second);
  EXPECT_EQ(mixed->charts[0].chart.series[0].points[0].y, 100'000);
  EXPECT_EQ(mixed->charts[0].chart.series[1].points[0].y, 50'000);
  EXPECT_EQ(mixed->charts[0].chart.series[1].points[0].x, 8e8);
  // Files of old versions say neither.
  const auto old = load(write("o.json", sweep_text("", "")), {});
  ASSERT_TRUE(old);
  EXPECT_FALSE(old->charts[0].chart.x.second);
  EXPECT_EQ(old->charts[0].y_unit, "cycles");
}

TEST_F(Load, BadInputNamesTheFile) {
  const auto error_of = [&](const std::string& path) {
    const auto view = load(path, {});
    return view ? std::string("none") : view.error().text();
  };
  EXPECT_THAT(error_of(folder + "/none"), HasSubstr("no such file"));
  EXPECT_THAT(error_of(folder), HasSubstr("--record"));
  EXPECT_THAT(error_of(write("a.json", "{")), HasSubstr("a.json"));
  EXPECT_THAT(error_of(write("b.json", R"({"weft":"tea"})")),
              HasSubstr("not a file that weft report knows"));
  EXPECT_THAT(error_of(write("c.json", R"({"weft":"probe"})")), HasSubstr("c.json"));
  EXPECT_THAT(error_of(write("d.json", R"({"weft":"probe","tree":true,"host_bit_per_s":1e9,
    "counts":{"round_trips":5,"seconds":0.5},"remarks":[],"hosts":[{"name":"a","on":7}],
    "switches":[],"links":[]})")),
              HasSubstr("not there"));
  write_record();
  write("ranks.csv", "rank,node\n1,2\n");
  EXPECT_THAT(error_of(folder), HasSubstr("ranks.csv:2"));
  write("summary.json", R"({"weft":"sim","calls":{"MPI_Send":3}})");
  EXPECT_THAT(error_of(folder), HasSubstr("summary.json"));
}

}  // namespace
}  // namespace weft::report
