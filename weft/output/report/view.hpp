// SPDX-License-Identifier: Apache-2.0
// Everything that can be shown of a run, whatever kind of run it was: the page, the pictures and
// the tables are all made from this. Numbers are in base units (ps, B, B/s).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/output/plot/chart.hpp>
#include <weft/output/record/network_facts.hpp>
#include <weft/output/record/timeline.hpp>

namespace weft::report {

using Json = nlohmann::ordered_json;

// "ps", "B", "B/s", "b/s", "1" (a count), "share", "cycles", or "" for no unit.
using Unit = std::string;

struct Fact {
  std::string key, label, text;
  std::optional<double> number = std::nullopt;
  std::string better = "";  // "less", "more" or empty.
};

struct Column {
  std::string name;
  Unit unit = "";
};

struct Table {
  std::string id, title;
  std::vector<Column> columns;
  std::vector<std::vector<Json>> rows;  // Texts, numbers or null.
};

struct ChartView {
  std::string id;
  Chart chart;
  Unit x_unit = "", y_unit = "";
  Unit x_second_unit = "", y_second_unit = "";  // Of second scales, where the chart has them.
};

// Utilisation by frame; a byte is 255 times the share.
struct Heat {
  std::vector<std::int64_t> end_ps;
  std::vector<std::uint8_t> links;    // frames x links: share of the link's rate.
  std::vector<std::uint8_t> buffers;  // frames x routers: share of the buffer space.
  // frames x routers: share of the rate of the busiest link between the router and its nodes. Not
  // in older records.
  std::optional<std::vector<std::uint8_t>> node_links = std::nullopt;

  std::size_t frames() const { return end_ps.size(); }
};

// Each row or column stands for `bin` ranks.
struct Matrix {
  std::uint32_t ranks = 0, bin = 1;
  std::vector<std::uint32_t> from, to;
  std::vector<float> bytes, messages;
};

struct Placement {
  std::string before_name, after_name;
  std::vector<std::uint32_t> before, after;  // The node of each rank.
};

// What a run was asked to do, and can change its results.
struct Setting {
  std::string key, value;
};

struct RunView {
  std::string name;
  std::string kind;  // "sim", "run", "traffic", "map", "probe"
  std::vector<Fact> facts;
  std::vector<Setting> settings;
  std::vector<std::string> remarks;
  std::vector<Table> tables;
  std::vector<ChartView> charts;
  std::optional<NetworkFacts> network;  // Working links only.
  std::optional<Heat> heat;
  std::optional<Timeline> timeline;
  std::optional<Matrix> matrix;
  std::optional<Placement> placement;
};

// For people: "138.7 us", "1.2 GB/s", "7.4 %".
std::string pretty(double value, const Unit& unit);

}  // namespace weft::report
