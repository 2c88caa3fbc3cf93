// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/output/plot/chart.hpp>
#include <weft/study/map/picture.hpp>

namespace weft::map {

namespace {

constexpr std::size_t histogram_bins = 60;

// One line of before and after.
struct Quantity {
  std::string_view name, key;
  double before = 0, after = 0;
  std::optional<double> bound;
};

std::vector<Quantity> quantities(const MapReport& r) {
  const Judgement &a = r.before.judgement, &b = r.after.judgement;
  std::vector<Quantity> all = {
      {"hops", "hops", static_cast<double>(a.hops), static_cast<double>(b.hops), r.bounds.hops},
      {"hop-bytes", "hop_bytes", a.hop_bytes, b.hop_bytes, r.bounds.hop_bytes},
      {"busiest link", "link_max", a.link_max, b.link_max, r.bounds.link_max},
      {"mean link", "link_mean", a.link_mean, b.link_mean, r.bounds.link_mean},
      {"objective", "value", a.value, b.value, r.bounds.value}};
  if (a.cut_off > 0 || b.cut_off > 0)
    all.push_back({"pairs without a way",
                   "cut_off",
                   static_cast<double>(a.cut_off),
                   static_cast<double>(b.cut_off),
                   {}});
  if (r.before.seconds && r.after.seconds)
    all.push_back({"simulated time (s)", "seconds", *r.before.seconds, *r.after.seconds, {}});
  return all;
}

// Whole numbers while they can be read and a fraction says nothing, four digits beyond.
std::string number(double value) {
  const double size = std::abs(value);
  if (size < 1e11 && (size >= 1000 || value == std::floor(value)))
    return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

// A bound that is this many times below the map says nothing about it.
constexpr double useful_ratio_max = 100;

bool has_useful_bound(const Quantity& q) {
  return q.bound && (q.after == *q.bound || q.after <= useful_ratio_max * *q.bound);
}

// No map has a busiest link, or an objective, that is noticeably better.
bool is_at_bound(const Quantity& q) {
  constexpr double about_one = 1.05;
  return (q.key == "link_max" || q.key == "value") && q.bound && q.after <= about_one * *q.bound;
}

// Whether it got worse although the objective is another; the objective may be one of the others.
bool is_worse_aside(const Quantity& q, const MapReport& r) {
  const double before = r.before.judgement.value, after = r.after.judgement.value;
  const bool is_objective = q.key == "value" || (q.before == before && q.after == after);
  return q.after > q.before && !is_objective;
}

std::string change(const Quantity& q, const MapReport& r) {
  if (q.before == q.after) return "0 %";
  const char* const mark = is_worse_aside(q, r) ? " *" : "";
  if (q.before == 0) return mark;
  return fmt::format("{:+.1f} %{}", 100 * (q.after / q.before - 1), mark);
}

std::string ratio(double value, double to) {
  if (value == to) return "1";
  if (to == 0) return "";
  return fmt::format("{:.{}f}", value / to, value / to < 100 ? 3 : 0);
}

using Row = std::vector<std::string>;

std::vector<Row> summary(const MapReport& r) {
  std::vector<Row> rows = {{"", r.before.name, r.after.name, "change", "no map below", "ratio"}};
  for (const Quantity& q : quantities(r))
    rows.push_back({std::string(q.name), number(q.before), number(q.after), change(q, r),
                    has_useful_bound(q) ? number(*q.bound)
                    : q.bound           ? "none known"
                                        : "",
                    has_useful_bound(q) ? ratio(q.after, *q.bound) : ""});
  return rows;
}

// What a reader of the summary must know so as not to promise too much.
std::vector<std::string> notes(const MapReport& r) {
  std::vector<std::string> all;
  const std::vector<Quantity> lines = quantities(r);
  if (std::ranges::any_of(lines, [&](const Quantity& q) { return is_worse_aside(q, r); }))
    all.push_back(fmt::format("* got worse: only the objective{} is minimised.",
                              r.objective.empty() ? "" : " (" + r.objective + ")"));
  if (r.before.seconds && r.after.seconds)
    all.emplace_back(
        "simulated time: all messages of the traffic sent at once, as one step. A program whose "
        "messages come in phases or wait for others gains less or more: run it with the new map to "
        "know.");
  if (std::ranges::any_of(lines, is_at_bound))
    all.emplace_back(
        "The bounds are of bytes over links, not of time: which messages meet depends on their "
        "order. Another map may be faster: try some with weft sim --map.");
  return all;
}

std::vector<ReportCandidate> best_first(std::vector<ReportCandidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.value < b.value; });
  return candidates;
}

std::vector<Row> candidate_rows(const MapReport& r) {
  std::vector<Row> rows = {{"candidate", "objective", "to the best"}};
  const auto sorted = best_first(r.candidates);
  for (const ReportCandidate& c : sorted)
    rows.push_back({c.name, number(c.value), ratio(c.value, sorted.front().value)});
  return rows;
}

std::vector<std::pair<std::string, std::string>> facts(const MapReport& r) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) all.emplace_back(name, value);
  };
  add("network", r.network);
  add("pattern", r.pattern);
  add("ranks", std::to_string(r.ranks));
  add("routing", r.routing);
  add("objective", r.objective);
  for (const auto& [name, value] : r.facts) add(name, value);
  return all;
}

// Columns that a character of several bytes must not shift.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string align(const std::vector<Row>& rows) {
  std::vector<std::size_t> width;
  for (const Row& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(width[i] - columns(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string html_table(const std::vector<Row>& rows) {
  std::string text = "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "<tr>";
    for (const std::string& cell : rows[i])
      text += fmt::format("<{0}>{1}</{0}>", i == 0 ? "th" : "td", escape_xml(cell));
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

std::string html_notes(const MapReport& r) {
  std::string text;
  for (const std::string& note : notes(r)) text += fmt::format("<p>{}</p>\n", escape_xml(note));
  return text;
}

std::string html_facts(const MapReport& r) {
  std::string text;
  for (const auto& [name, value] : facts(r))
    text += fmt::format("{}{} <b>{}</b>", text.empty() ? "" : " · ", escape_xml(name),
                        escape_xml(value));
  return "<p>" + text + "</p>\n";
}

Series outline(const ReportSide& side, const Graph& graph, double top) {
  Series series{.label = side.name, .points = {}, .steps = true};
  const auto counts = load_histogram(side.judgement, graph, top, histogram_bins);
  const double step = top / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    series.points.push_back(
        {.x = static_cast<double>(i) * step, .y = static_cast<double>(counts[i])});
  series.points.push_back({.x = top, .y = 0});
  return series;
}

Chart histogram(const MapReport& r, const Graph& graph) {
  const double most = std::max(r.before.judgement.link_max, r.after.judgement.link_max);
  const double top = most > 0 ? most : 1;
  std::string subtitle =
      fmt::format("busiest link: {} before, {} after", number(r.before.judgement.link_max),
                  number(r.after.judgement.link_max));
  const Quantity busiest{"", "", r.before.judgement.link_max, r.after.judgement.link_max,
                         r.bounds.link_max};
  if (has_useful_bound(busiest))
    subtitle += fmt::format("; no map below {} (dotted)", number(*r.bounds.link_max));
  Chart chart{.title = "Bytes on the links",
              .subtitle = subtitle,
              .x = {.label = "bytes on a link"},
              .y = {.label = "links"}};
  chart.series = {outline(r.before, graph, top), outline(r.after, graph, top)};
  // Right of this a label would run out of the frame; there the outline ends visibly anyway.
  const double room = 0.8 * top;
  if (r.after.judgement.link_max > 0 && r.after.judgement.link_max < room)
    chart.rules.push_back(
        {.at = r.after.judgement.link_max, .vertical = true, .label = "busiest after"});
  if (has_useful_bound(busiest) && *r.bounds.link_max > 0 && *r.bounds.link_max < room)
    chart.rules.push_back({.at = *r.bounds.link_max, .vertical = true, .label = ""});
  return chart;
}

nlohmann::ordered_json side_json(const ReportSide& side) {
  const Judgement& j = side.judgement;
  nlohmann::ordered_json made;
  made["name"] = side.name;
  made["hops"] = j.hops;
  made["hop_bytes"] = j.hop_bytes;
  made["link_max"] = j.link_max;
  made["link_mean"] = j.link_mean;
  made["link_norm"] = j.link_norm;
  made["fullest_link"] = j.busiest.index;
  made["cut_off"] = j.cut_off;
  made["value"] = j.value;
  if (side.seconds) made["seconds"] = *side.seconds;
  made["nodes"] = side.nodes;
  return made;
}

std::string title_of(const MapReport& r) {
  return r.title.empty() ? "weft map" : r.title;
}

}  // namespace

std::vector<std::uint64_t> load_histogram(const Judgement& judgement, const Graph& graph,
                                          double top, std::size_t bins) {
  std::vector<std::uint64_t> counts(bins);
  for (std::uint32_t l = 0; l < judgement.loads.size(); ++l) {
    if (!graph.port(LinkId(l)).usable()) continue;
    const double share = judgement.loads[l] / top * static_cast<double>(bins);
    ++counts[std::min(static_cast<std::size_t>(std::max(share, 0.0)), bins - 1)];
  }
  return counts;
}

std::string table(const MapReport& report) {
  std::string text;
  for (const auto& [name, value] : facts(report)) text += fmt::format("{}: {}\n", name, value);
  text += "\n" + align(summary(report));
  const std::vector<std::string> remarks = notes(report);
  if (!remarks.empty()) text += "\n";
  for (const std::string& remark : remarks) text += remark + "\n";
  if (!report.candidates.empty()) text += "\n" + align(candidate_rows(report));
  return text;
}

std::string to_json(const MapReport& report) {
  nlohmann::ordered_json whole;
  whole["format"] = "weft-map-report";
  whole["version"] = 1;
  for (const auto& [name, value] : {std::pair{"network", &report.network},
                                    {"pattern", &report.pattern},
                                    {"routing", &report.routing},
                                    {"objective", &report.objective}})
    whole[name] = *value;
  whole["ranks"] = report.ranks;
  whole["before"] = side_json(report.before);
  whole["after"] = side_json(report.after);
  auto& bounds = whole["bounds"] = nlohmann::ordered_json::object();
  for (const Quantity& q : quantities(report))
    if (q.bound) bounds[std::string(q.key)] = *q.bound;
  auto& candidates = whole["candidates"] = nlohmann::ordered_json::array();
  for (const ReportCandidate& c : best_first(report.candidates))
    candidates.push_back({{"name", c.name}, {"value", c.value}});
  auto& further = whole["facts"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : report.facts) further[name] = value;
  whole["notes"] = notes(report);
  whole["warnings"] = report.warnings;
  return whole.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_csv(const std::vector<ReportCandidate>& candidates) {
  std::string text = "name,value,ratio\n";
  const auto sorted = best_first(candidates);
  for (const ReportCandidate& c : sorted) {
    std::string name;
    for (const char letter : c.name) name += letter == '"' ? "\"\"" : std::string(1, letter);
    if (name.find_first_of(",\"\n\r") != std::string::npos) name = fmt::format("\"{}\"", name);
    text += fmt::format("{},{},{}\n", name, c.value, ratio(c.value, sorted.front().value));
  }
  return text;
}

std::string to_html(const MapReport& report, const Problem& problem) {
  const Picture picture{.title = "Placement",
                        .sheets = {{report.before.name, report.before.nodes},
                                   {report.after.name, report.after.nodes}}};
  std::vector<std::string> parts = {
      html_facts(report), html_table(summary(report)) + html_notes(report),
      to_svg(histogram(report, problem.topology().graph)),
      "<div class=\"wide\">" + draw_placement(problem, picture) + "</div>\n"};
  if (!report.candidates.empty())
    parts.push_back("<h2>Candidates</h2>\n" + html_table(candidate_rows(report)));
  return make_page(title_of(report), parts,
                   "Bytes on a link are weighted by its slowness. \"no map below\" is proved: no "
                   "placement of these ranks can be better.");
}

}  // namespace weft::map
