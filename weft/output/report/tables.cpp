// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/tables.hpp>

namespace weft::report {

namespace {

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "";
  if (!cell.is_string()) return cell.dump();
  auto text = cell.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string row_text(const std::vector<Json>& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i > 0 ? "," : "") + cell_text(row[i]);
  return line + "\n";
}

Table summary_of(const RunView& view) {
  Table table{"summary", "Summary", {{"key"}, {"value"}, {"text"}}, {}};
  for (const Fact& fact : view.facts)
    table.rows.push_back({fact.key, fact.number ? Json(*fact.number) : Json(fact.text), fact.text});
  return table;
}

Table points_of(const ChartView& view) {
  Table table{view.id, view.chart.title, {{"curve"}, {"x", view.x_unit}, {"y", view.y_unit}}, {}};
  for (const Series& series : view.chart.series) {
    for (const ChartPoint& point : series.points)
      table.rows.push_back({series.label, point.x, point.y});
  }
  return table;
}

std::vector<Table> all_tables(const RunView& view) {
  std::vector<Table> tables = {summary_of(view)};
  tables.insert(tables.end(), view.tables.begin(), view.tables.end());
  for (const ChartView& chart : view.charts) tables.push_back(points_of(chart));
  return tables;
}

}  // namespace

std::string list_contents(std::span<const RunView> views) {
  std::string out;
  for (const RunView& view : views) {
    out += fmt::format("{} ({})\n  tables, for --table:\n", view.name, view.kind);
    for (const Table& table : all_tables(view))
      out += fmt::format("    {:<14} {}, {} rows\n", table.id, table.title, table.rows.size());
    out += "  pictures, for --picture:\n";
    for (const PictureName& name : pictures_of(view))
      out += fmt::format("    {:<14} {}\n", name.id, name.title);
    for (const std::string& remark : view.remarks) out += "  note: " + remark + "\n";
  }
  return out;
}

std::string to_json(std::span<const RunView> views) {
  Json runs = Json::array();
  for (const RunView& view : views) runs.push_back(run_json_small(view));
  const Json json = {{"format", "weft-report 1"}, {"runs", std::move(runs)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> table_csv(const RunView& view, const std::string& id) {
  std::string known;
  for (const Table& table : all_tables(view)) {
    known += (known.empty() ? "" : ", ") + table.id;
    if (table.id != id) continue;
    std::vector<Json> head;
    for (const Column& column : table.columns) {
      const bool plain = column.unit.empty() || column.unit == "1";
      head.push_back(plain ? column.name : fmt::format("{} [{}]", column.name, column.unit));
    }
    std::string out = row_text(head);
    for (const std::vector<Json>& row : table.rows) out += row_text(row);
    return out;
  }
  return Error::call(fmt::format("{} has no table '{}'; it has {}", view.name, id, known));
}

}  // namespace weft::report
