// SPDX-License-Identifier: Apache-2.0
// Loads data of a record by rank and by node: calls over time, the traffic matrix, numbers.
#include <algorithm>
#include <charconv>
#include <map>

#include <weft/base/file.hpp>
#include <weft/output/report/load_parts.hpp>
#include <weft/workload/patterns/traffic_file.hpp>

namespace weft::report {

Status load_timeline(const std::string& folder, const Limits& limits, RunView& view) {
  auto timeline = read_timeline(folder);
  if (!timeline) return Error(timeline.error());
  if (timeline->spans.size() > limits.spans) {
    // Every rank gets an equal share of what a page can hold.
    const std::size_t share = std::max<std::size_t>(limits.spans / timeline->ranks(), 16);
    Timeline coarse;
    for (std::uint32_t rank = 0; rank < timeline->ranks(); ++rank) {
      SpanKeeper keeper(share);
      for (const CallSpan& span : timeline->of(rank)) keeper.add(span);
      coarse.add_rank(timeline->calls, keeper.spans(), std::max(keeper.bin_ps(), timeline->bin_ps));
    }
    *timeline = std::move(coarse);
  }
  view.timeline = *std::move(timeline);
  return {};
}

Status load_matrix(const std::string& path, const Limits& limits, RunView& view) {
  const auto traffic = read_traffic(path, {0, *parse_traffic_format("text")});
  if (!traffic) return Error(traffic.error());
  Matrix matrix;
  matrix.ranks = traffic->ranks();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<double, double>> cells;
  for (;; matrix.bin *= 2) {
    cells.clear();
    for (const Flow& flow : traffic->flows()) {
      auto& cell = cells[{flow.from / matrix.bin, flow.to / matrix.bin}];
      cell.first += static_cast<double>(flow.bytes);
      cell.second += static_cast<double>(flow.messages);
      if (cells.size() > limits.pairs) break;
    }
    if (cells.size() <= limits.pairs) break;
  }
  for (const auto& [pair, sum] : cells) {
    matrix.from.push_back(pair.first);
    matrix.to.push_back(pair.second);
    matrix.bytes.push_back(static_cast<float>(sum.first));
    matrix.messages.push_back(static_cast<float>(sum.second));
  }
  view.matrix = std::move(matrix);
  return {};
}

namespace {

Json cell_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc() && end == text.data() + text.size()) return number;
  return std::string(text);
}

// Waiting time and end of each rank, as curves over ranks.
void add_waiting(const Table& ranks, RunView& view) {
  ChartView view_of{"waiting", {}, "1", "ps"};
  view_of.chart.title = "Waiting for the network, by rank";
  view_of.chart.x = {"rank", false, std::nullopt, std::nullopt};
  view_of.chart.y = {"time", false, 0, std::nullopt};
  Series waited{"waited", {}, true};
  const std::size_t step = std::max<std::size_t>(ranks.rows.size() / 4096, 1);
  for (std::size_t i = 0; i < ranks.rows.size(); i += step) {
    if (ranks.rows[i][0].is_number() && ranks.rows[i][3].is_number())
      waited.points.push_back({ranks.rows[i][0].get<double>(), ranks.rows[i][3].get<double>()});
  }
  view_of.chart.series.push_back(std::move(waited));
  if (!view_of.chart.series[0].points.empty()) view.charts.push_back(std::move(view_of));
}

// How much of the program's time each link was busy.
void add_use(Table& links, const RunView& view) {
  const auto time = std::find_if(view.facts.begin(), view.facts.end(),
                                 [](const Fact& fact) { return fact.key == "program_time_ps"; });
  if (time == view.facts.end() || !time->number || *time->number <= 0) return;
  links.columns.push_back({"use of injection", "share"});
  links.columns.push_back({"use of ejection", "share"});
  for (std::vector<Json>& row : links.rows) {
    for (const std::size_t busy : {std::size_t{4}, std::size_t{8}}) {
      const Json& ps = row[busy];
      row.push_back(ps.is_number() ? Json(std::min(ps.get<double>() / *time->number, 1.0))
                                   : Json());
    }
  }
}

}  // namespace

Status load_table(const std::string& path, Table table, RunView& view) {
  const auto text = read_file(path);
  if (!text) return Error(text.error());
  std::string_view rest = *text;
  for (int line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line_number == 1 || line.empty()) continue;
    std::vector<Json>& row = table.rows.emplace_back();
    for (bool more = true; more;) {
      const std::size_t comma = line.find(',');
      more = comma != std::string_view::npos;
      row.push_back(cell_of(line.substr(0, comma)));
      if (more) line.remove_prefix(comma + 1);
    }
    if (row.size() != table.columns.size())
      return Error::input("expected " + std::to_string(table.columns.size()) + " columns")
          .at(path, line_number);
  }
  if (table.id == "ranks") add_waiting(table, view);
  if (table.id == "node-links") add_use(table, view);
  view.tables.push_back(std::move(table));
  return {};
}

}  // namespace weft::report
