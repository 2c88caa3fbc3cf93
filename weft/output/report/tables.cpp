// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/settings.hpp>
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
      if (std::isfinite(point.y)) table.rows.push_back({series.label, point.x, point.y});
  }
  return table;
}

struct Entry {
  std::string key;
  Json value;
};
struct Line {
  std::string key;
  std::vector<Json> values;  // By run; null: the run has no such entry.
};

// The entries of all runs, joined by key, in the order of their first appearance.
template <typename EntriesOf>
std::vector<Line> lines_of(std::span<const RunView> views, EntriesOf&& entries_of) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (Entry& entry : entries_of(views[i])) {
      auto line = std::find_if(lines.begin(), lines.end(),
                               [&](const Line& known) { return known.key == entry.key; });
      if (line == lines.end())
        line = lines.insert(line, {entry.key, std::vector<Json>(views.size())});
      line->values[i] = std::move(entry.value);
    }
  }
  return lines;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : "-";
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

const Fact* find_fact(const RunView& view, const std::string& label) {
  const auto found = std::find_if(view.facts.begin(), view.facts.end(),
                                  [&](const Fact& fact) { return fact.label == label; });
  return found == view.facts.end() ? nullptr : &*found;
}

// "+12.5 %" from the first run to the second; empty for texts, shares (which are percents already)
// and what is alike.
std::string change_of(const std::string& label, const RunView& before, const RunView& after) {
  const Fact *a = find_fact(before, label), *b = find_fact(after, label);
  if (a == nullptr || b == nullptr || !a->number || !b->number || a->text == b->text) return "";
  if (*a->number == 0 || a->text.ends_with('%')) return "";
  return fmt::format("{:+.1f} %", 100 * (*b->number / *a->number - 1));
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{}{:<{}}", i == 0 ? "" : "  ", row[i], width[i]);
    out += without_trailing_blanks(std::move(line)) + "\n";
  }
  return out;
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
  Json runs = Json::array(), differences = Json::array();
  for (const RunView& view : views) runs.push_back(run_json_small(view));
  for (const Difference& difference : differing_settings(views)) {
    Json values = Json::array();
    for (const auto& value : difference.values) values.push_back(value ? Json(*value) : Json());
    differences.push_back({{"setting", difference.key}, {"values", std::move(values)}});
  }
  const Json json = {{"format", "weft-report 1"},
                     {"differing_settings", std::move(differences)},
                     {"runs", std::move(runs)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(std::span<const RunView> views) {
  const std::vector<Line> lines = lines_of(views, [](const RunView& view) {
    std::vector<Entry> entries;
    for (const Fact& fact : view.facts) entries.push_back({fact.label, fact.text});
    return entries;
  });
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const RunView& view : views) rows[0].push_back(view.name);
  if (views.size() == 2) rows[0].push_back("change");
  for (const Line& line : lines) {
    std::vector<std::string>& row = rows.emplace_back(1, line.key);
    for (const Json& value : line.values) row.push_back(text_of(value));
    if (views.size() == 2) row.push_back(change_of(line.key, views[0], views[1]));
  }
  std::string out = in_columns(rows);
  for (const RunView& view : views)
    for (const std::string& remark : view.remarks)
      out += fmt::format("{}: {}\n", view.name, remark);
  return out;
}

Result<std::string> side_by_side_csv(std::span<const RunView> views, const std::string& id) {
  if (id != "summary" && id != "settings")
    return Error::call("of several runs there are the tables summary and settings; for '" + id +
                       "' give one run");
  const std::vector<Line> lines = lines_of(views, [&](const RunView& view) {
    std::vector<Entry> entries;
    if (id == "settings") {
      for (const Setting& setting : view.settings) entries.push_back({setting.key, setting.value});
    } else {
      for (const Fact& fact : view.facts)
        entries.push_back({fact.key, fact.number ? Json(*fact.number) : Json(fact.text)});
    }
    return entries;
  });
  std::vector<Json> head = {"key"};
  for (const RunView& view : views) head.push_back(view.name);
  std::string out = row_text(head);
  for (const Line& line : lines) {
    std::vector<Json> row = {line.key};
    row.insert(row.end(), line.values.begin(), line.values.end());
    out += row_text(row);
  }
  return out;
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
