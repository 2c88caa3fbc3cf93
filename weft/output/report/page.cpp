// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <weft/output/report/page.hpp>

namespace weft::report {

namespace {

constexpr std::string_view marker = "<!--weft-data-->";

std::vector<std::uint32_t> as_u32(const std::vector<std::int32_t>& list) {
  return {list.begin(), list.end()};
}

// Direction of each link of a cube: twice the dimension, plus one if it goes down.
std::vector<std::uint8_t> directions(const NetworkFacts& network) {
  std::vector<std::uint8_t> list;
  for (std::size_t l = 0; l < network.links(); ++l) {
    std::int32_t from = network.link_from[l], to = network.link_to[l];
    std::uint8_t direction = 0;
    for (std::size_t d = 0; d < network.radix.size(); ++d) {
      const std::int32_t radix = network.radix[d];
      if (from % radix != to % radix) {
        const auto dimension = static_cast<std::int32_t>(2 * d);
        const std::int32_t port = network.link_port[l];
        const bool down = port == dimension + 1 || (port != dimension && to % radix < from % radix);
        direction = static_cast<std::uint8_t>(dimension + (down ? 1 : 0));
        break;
      }
      from /= radix;
      to /= radix;
    }
    list.push_back(direction);
  }
  return list;
}

Json network_json(const NetworkFacts& network, Blocks& blocks) {
  using Family = NetworkFacts::Family;
  Json links = {{"from", blocks.add(as_u32(network.link_from))},
                {"to", blocks.add(as_u32(network.link_to))}};
  Json json = {{"name", network.name},
               {"family", to_text(network.family)},
               {"routers", network.routers},
               {"nodes", network.node_router.size()}};
  if (network.family == Family::cube) {
    json["radix"] = network.radix;
    Json wrap = Json::array();
    for (const std::int32_t wraps : network.wrap) wrap.push_back(wraps != 0);
    json["wrap"] = std::move(wrap);
    links["direction"] = blocks.add(directions(network));
  } else {
    json["names"] = network.names;
  }
  if (network.family == Family::tree) json["level"] = blocks.add(network.level);
  if (!network.group.empty()) json["group"] = blocks.add(as_u32(network.group));
  json["links"] = std::move(links);
  json["node_router"] = blocks.add(as_u32(network.node_router));
  return json;
}

Json layer(const char* id, const char* title, const char* per, const char* of, Json data) {
  return {{"id", id}, {"title", title}, {"per", per}, {"of", of}, {"data", std::move(data)}};
}

Json heat_json(const Heat& heat, Blocks& blocks) {
  const std::size_t frames = heat.frames();
  const auto width = [&](const std::vector<std::uint8_t>& list) {
    return frames == 0 ? 0 : list.size() / frames;
  };
  const auto data = [&](const std::vector<std::uint8_t>& list) {
    return blocks.add(std::span<const std::uint8_t>(list), {frames, width(list)});
  };
  Json layers = {
      layer("links", "Links", "link", "share of the link's rate", data(heat.links)),
      layer("buffers", "Buffers", "router", "share of the router's buffers", data(heat.buffers))};
  if (heat.node_links) {
    layers.push_back(layer("node-links", "Node links", "router",
                           "share of the rate of its busiest link to or from a node",
                           data(*heat.node_links)));
  }
  return {{"begin_ps", 0}, {"end_ps", heat.end_ps}, {"layers", std::move(layers)}};
}

// The page counts time in ticks that fit into four bytes.
Json timeline_json(const Timeline& timeline, Blocks& blocks) {
  std::int64_t end = 1;
  for (const CallSpan& span : timeline.spans) end = std::max(end, span.end_ps);
  const std::int64_t tick = end / 0x7fffffff + 1;
  std::vector<std::uint32_t> first, begin, length;
  std::vector<std::uint8_t> call, waited;
  for (const std::uint64_t index : timeline.first)
    first.push_back(static_cast<std::uint32_t>(index));
  for (const CallSpan& span : timeline.spans) {
    begin.push_back(static_cast<std::uint32_t>(span.begin_ps / tick));
    length.push_back(static_cast<std::uint32_t>(span.end_ps / tick) - begin.back());
    call.push_back(static_cast<std::uint8_t>(std::min<std::uint64_t>(span.call, 255)));
    const double share =
        static_cast<double>(span.waited_ps) / static_cast<double>(span.end_ps - span.begin_ps);
    waited.push_back(static_cast<std::uint8_t>(std::lround(255 * std::min(share, 1.0))));
  }
  return {{"ranks", timeline.ranks()},
          {"tick_ps", tick},
          {"end", end / tick},
          {"calls", timeline.calls},
          {"exact", timeline.bin_ps == 0},
          {"bin_ticks", timeline.bin_ps / tick},
          {"first", blocks.add(first)},
          {"begin", blocks.add(begin)},
          {"length", blocks.add(length)},
          {"call", blocks.add(call)},
          {"waited", blocks.add(waited)}};
}

Json matrix_json(const Matrix& matrix, Blocks& blocks) {
  return {{"ranks", matrix.ranks},
          {"bin", matrix.bin},
          {"from", blocks.add(matrix.from)},
          {"to", blocks.add(matrix.to)},
          {"bytes", blocks.add(matrix.bytes)},
          {"messages", blocks.add(matrix.messages)}};
}

Json chart_json(const ChartView& view) {
  const auto axis = [](const Axis& a, const Unit& unit, const Unit& second) {
    Json json{{"label", a.label}, {"unit", unit}, {"log", a.log}};
    if (a.second)
      json["second"] = {{"label", a.second->label}, {"unit", second}, {"factor", a.second->factor}};
    return json;
  };
  Json series = Json::array(), rules = Json::array();
  for (const Series& s : view.chart.series) {
    Json points = Json::array(), hollow = Json::array();
    for (const ChartPoint& p : s.points) {
      if (p.hollow) hollow.push_back(points.size());
      points.push_back({p.x, std::isfinite(p.y) ? Json(p.y) : Json()});
    }
    series.push_back({{"name", s.label}, {"points", std::move(points)}, {"steps", s.steps}});
    if (!hollow.empty()) series.back()["hollow"] = std::move(hollow);
  }
  for (const Rule& rule : view.chart.rules)
    rules.push_back({{"axis", rule.vertical ? "x" : "y"}, {"at", rule.at}, {"label", rule.label}});
  Json json = {{"id", view.id},
               {"title", view.chart.title},
               {"x", axis(view.chart.x, view.x_unit, view.x_second_unit)},
               {"y", axis(view.chart.y, view.y_unit, view.y_second_unit)},
               {"series", std::move(series)},
               {"rules", std::move(rules)}};
  if (!view.chart.hollow_means.empty()) json["hollow_means"] = view.chart.hollow_means;
  return json;
}

Json table_json(const Table& table) {
  constexpr std::size_t rows_max = 10'000;
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) {
    Json json = {{"name", column.name}};
    if (!column.unit.empty()) json["unit"] = column.unit;
    columns.push_back(std::move(json));
  }
  const std::size_t shown = std::min(table.rows.size(), rows_max);
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(table.rows[i]);
  return {{"id", table.id},
          {"title", table.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"cut", table.rows.size() - shown}};
}

// Inside a script element nothing may look like its end or like the start of another.
std::string for_script(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Json run_json_small(const RunView& view) {
  Json summary = Json::array(), tables = Json::array(), charts = Json::array();
  for (const Fact& fact : view.facts) {
    Json json = {{"key", fact.key}, {"label", fact.label}, {"text", fact.text}};
    if (fact.number) json["number"] = *fact.number;
    if (!fact.better.empty()) json["better"] = fact.better;
    summary.push_back(std::move(json));
  }
  for (const Table& table : view.tables) tables.push_back(table_json(table));
  for (const ChartView& chart : view.charts) charts.push_back(chart_json(chart));
  return {{"name", view.name},       {"kind", view.kind},           {"summary", std::move(summary)},
          {"remarks", view.remarks}, {"tables", std::move(tables)}, {"charts", std::move(charts)}};
}

Json run_json(const RunView& view, Blocks& blocks) {
  Json json = run_json_small(view);
  if (view.network) json["network"] = network_json(*view.network, blocks);
  if (view.heat) json["heat"] = heat_json(*view.heat, blocks);
  if (view.timeline) json["timeline"] = timeline_json(*view.timeline, blocks);
  if (view.matrix) json["matrix"] = matrix_json(*view.matrix, blocks);
  if (view.placement) {
    json["placement"] = {{"before", blocks.add(view.placement->before)},
                         {"after", blocks.add(view.placement->after)},
                         {"before_name", view.placement->before_name},
                         {"after_name", view.placement->after_name}};
  }
  return json;
}

std::string page_title(std::span<const RunView> runs) {
  std::string title;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) title += i + 1 == runs.size() ? " and " : ", ";
    title += runs[i].name;
  }
  return title;
}

Result<std::string> make_page(std::string_view page_template, const PageHead& head,
                              std::span<const RunView> runs) {
  const std::size_t place = page_template.find(marker);
  if (place == std::string_view::npos ||
      page_template.find(marker, place + 1) != std::string_view::npos) {
    return Error::run("the template of pages is damaged; install weft again");
  }
  Blocks blocks;
  Json list = Json::array();
  for (const RunView& run : runs) list.push_back(run_json(run, blocks));
  const Json index = {{"format", "weft-report 1"},
                      {"title", head.title},
                      {"made_by", head.made_by},
                      {"live", head.live},
                      {"runs", std::move(list)}};
  std::string page(page_template.substr(0, place));
  page.reserve(page_template.size() + blocks.bytes() + (std::size_t{1} << 20));
  page += "<script type=\"application/json\" id=\"weft-data\">" + for_script(index) + "</script>\n";
  for (std::size_t i = 0; i < blocks.texts().size(); ++i) {
    page +=
        fmt::format("<script type=\"application/octet-stream\" id=\"weft-block-{}\">{}</script>\n",
                    i, blocks.texts()[i]);
  }
  page += page_template.substr(place + marker.size());
  return page;
}

}  // namespace weft::report
