// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/fingerprint.hpp>
#include <weft/base/version.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/study/traffic/blocks.hpp>
#include <weft/study/traffic/people_units.hpp>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe += c == '"' ? std::string("\"\"") : std::string(1, c);
  return safe + "\"";
}

double nanoseconds(std::int64_t ps) {
  return static_cast<double>(ps) / 1000;
}

struct Column {
  const char* name;
  std::string (*text)(const Curve&, const Point&);
};

std::string latency_text(const Point& p, double value) {
  return p.claims_latency() ? fmt::format("{}", value) : "";
}

std::string percentile_text(const Point& p, int per_mille) {
  return latency_text(p, nanoseconds(p.packets.latencies_ps.percentile(per_mille)));
}

std::string rate_text(const Curve& curve, double load) {
  return fmt::format("{}", to_gbyte_per_s(*curve.scenario, load));
}

// The order and the names are a promise to scripts: new columns go to the end.
constexpr Column columns[] = {
    {"label", [](const Curve& c, const Point&) { return quoted(c.scenario->label); }},
    {"network", [](const Curve& c, const Point&) { return quoted(c.scenario->topology->name); }},
    {"routing", [](const Curve& c, const Point&) { return quoted(c.scenario->routing); }},
    {"vcs",
     [](const Curve& c, const Point&) { return fmt::format("{}", c.scenario->hardware.vcs); }},
    {"packet_flits", [](const Curve& c, const Point&) { return quoted(c.scenario->packet); }},
    {"pattern", [](const Curve& c, const Point&) { return quoted(c.scenario->traffic); }},
    {"injection", [](const Curve& c, const Point&) { return quoted(c.scenario->injection); }},
    {"seed", [](const Curve& c, const Point&) { return fmt::format("{}", c.scenario->seed); }},
    {"load_flit_per_node_cycle",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.load); }},
    {"offered_flit_per_node_cycle",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.offered); }},
    {"accepted_flit_per_node_cycle",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.accepted); }},
    {"accepted_worst_flit_per_node_cycle",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.accepted_worst); }},
    {"state", [](const Curve&, const Point& p) { return std::string(to_text(p.state)); }},
    {"converged", [](const Curve&, const Point& p) { return fmt::format("{}", p.converged); }},
    {"latency_cycles", [](const Curve&, const Point& p) { return latency_text(p, p.latency()); }},
    {"network_latency_cycles",
     [](const Curve&, const Point& p) { return latency_text(p, p.network_latency()); }},
    {"latency_ns",
     [](const Curve&, const Point& p) {
       return latency_text(p, p.packets.latency_ps.mean() / 1000);
     }},
    {"latency_deviation_ns",
     [](const Curve&, const Point& p) {
       return latency_text(p, p.packets.latency_ps.deviation() / 1000);
     }},
    {"latency_p50_ns", [](const Curve&, const Point& p) { return percentile_text(p, 500); }},
    {"latency_p95_ns", [](const Curve&, const Point& p) { return percentile_text(p, 950); }},
    {"latency_p99_ns", [](const Curve&, const Point& p) { return percentile_text(p, 990); }},
    {"latency_max_ns", [](const Curve&, const Point& p) { return percentile_text(p, 1000); }},
    {"hops_mean",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.packets.hops.mean()); }},
    {"link_utilisation_max",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.link_utilisation_max); }},
    {"link_utilisation_mean",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.link_utilisation_mean); }},
    {"packets", [](const Curve&, const Point& p) { return fmt::format("{}", p.packets.born); }},
    {"warmup_cycles",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.warmup_cycles); }},
    {"measured_cycles",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.measured_cycles); }},
    {"drain_cycles",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.drain_cycles); }},
    {"cycle_ps", [](const Curve&, const Point& p) { return fmt::format("{}", p.cycle_ps); }},
    {"zero_load_latency_cycles",
     [](const Curve& c, const Point&) { return fmt::format("{}", c.zero.latency_cycles); }},
    {"buffer_bytes",
     [](const Curve& c, const Point&) {
       return fmt::format("{}", c.scenario->hardware.buffer_size().count);
     }},
    {"news_share_max",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.news_share_max); }},
    {"news_share_mean",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.news_share_mean); }},
    {"basis",
     [](const Curve& c, const Point&) {
       return c.scenario->compared ? c.scenario->compared->basis : std::string();
     }},
    {"load_gbyte_per_node_s", [](const Curve& c, const Point& p) { return rate_text(c, p.load); }},
    {"offered_gbyte_per_node_s",
     [](const Curve& c, const Point& p) { return rate_text(c, p.offered); }},
    {"accepted_gbyte_per_node_s",
     [](const Curve& c, const Point& p) { return rate_text(c, p.accepted); }},
    {"accepted_worst_gbyte_per_node_s",
     [](const Curve& c, const Point& p) { return rate_text(c, p.accepted_worst); }},
    {"network_latency_ns",
     [](const Curve&, const Point& p) {
       return latency_text(p, p.packets.network_ps.mean() / 1000);
     }},
    {"zero_load_latency_ns",
     [](const Curve& c, const Point&) {
       return fmt::format("{}", to_ns(*c.scenario, c.zero.latency_cycles));
     }},
    {"node_link_utilisation_max",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.node_link_utilisation_max); }},
    {"node_link_utilisation_mean",
     [](const Curve&, const Point& p) { return fmt::format("{}", p.node_link_utilisation_mean); }},
};

Json point_json(const Scenario& scenario, const Point& p) {
  Json out = {{"load_flit_per_node_cycle", p.load},
              {"offered_flit_per_node_cycle", p.offered},
              {"accepted_flit_per_node_cycle", p.accepted},
              {"accepted_worst_flit_per_node_cycle", p.accepted_worst},
              {"load_gbyte_per_node_s", to_gbyte_per_s(scenario, p.load)},
              {"offered_gbyte_per_node_s", to_gbyte_per_s(scenario, p.offered)},
              {"accepted_gbyte_per_node_s", to_gbyte_per_s(scenario, p.accepted)},
              {"accepted_worst_gbyte_per_node_s", to_gbyte_per_s(scenario, p.accepted_worst)},
              {"worst_node", node_name(*scenario.topology, p.worst_node)},
              {"state", to_text(p.state)},
              {"converged", p.converged}};
  if (p.claims_latency()) {
    out["latency_cycles"] = p.latency();
    out["network_latency_cycles"] = p.network_latency();
    out["latency_ns"] = p.packets.latency_ps.mean() / 1000;
    out["network_latency_ns"] = p.packets.network_ps.mean() / 1000;
    out["latency_deviation_ns"] = p.packets.latency_ps.deviation() / 1000;
    out["latency_p50_ns"] = nanoseconds(p.packets.latencies_ps.percentile(500));
    out["latency_p95_ns"] = nanoseconds(p.packets.latencies_ps.percentile(950));
    out["latency_p99_ns"] = nanoseconds(p.packets.latencies_ps.percentile(990));
    out["latency_max_ns"] = nanoseconds(p.packets.latencies_ps.max());
  }
  out["hops_mean"] = p.packets.hops.mean();
  out["link_utilisation_max"] = p.link_utilisation_max;
  out["link_utilisation_mean"] = p.link_utilisation_mean;
  out["news_share_max"] = p.news_share_max;
  out["news_share_mean"] = p.news_share_mean;
  if (p.link_utilisation_max > 0) {
    const Graph& graph = scenario.topology->graph;
    out["busiest_link"] = {
        {"from", router_name(*scenario.topology, graph.source_of(p.busiest_link))},
        {"to", router_name(*scenario.topology, graph.port(p.busiest_link).peer)}};
  }
  out["node_link_utilisation_max"] = p.node_link_utilisation_max;
  out["node_link_utilisation_mean"] = p.node_link_utilisation_mean;
  if (p.node_link_utilisation_max > 0) {
    out["busiest_node_link"] = {{"node", node_name(*scenario.topology, p.busiest_node)},
                                {"direction", p.busiest_ejects ? "ejection" : "injection"}};
  }
  out["packets"] = p.packets.born;
  out["warmup_cycles"] = p.warmup_cycles;
  out["measured_cycles"] = p.measured_cycles;
  out["drain_cycles"] = p.drain_cycles;
  return out;
}

Json curve_json(const Curve& curve) {
  const Scenario& s = *curve.scenario;
  Json out = {{"label", s.label},
              {"network", s.topology->name},
              {"profile", s.profile},
              {"warnings", s.warnings},
              {"nodes", s.nodes()},
              {"routing", s.routing},
              {"vcs", s.hardware.vcs},
              {"packet_flits", s.packet},
              {"buffer_bytes", s.hardware.buffer_size().count},
              {"pattern", s.traffic},
              {"injection", s.injection},
              {"seed", s.seed},
              {"cycle_ps", s.cycle().in_ps()},
              {"flit_bytes", s.hardware.flit.count},
              {"zero_load",
               {{"latency_cycles", curve.zero.latency_cycles},
                {"latency_ns", to_ns(s, curve.zero.latency_cycles)},
                {"hops_mean", curve.zero.hops},
                {"every_pair", curve.zero.exact},
                {"packets", curve.zero.packets}}}};
  if (const auto down = find_cables_down(*s.topology); !down.empty())
    out["cables_down_names"] = down;
  const auto add_rate = [&](Json& to, const std::string& name, double load) {
    to[name + "_flit_per_node_cycle"] = load;
    to[name + "_gbyte_per_node_s"] = to_gbyte_per_s(s, load);
  };
  if (curve.capacity > 0) add_rate(out, "capacity", curve.capacity);
  if (curve.saturation) {
    Json& saturation = out["saturation"];
    add_rate(saturation, "stable", curve.saturation->load.stable);
    add_rate(saturation, "unstable", curve.saturation->load.unstable);
    add_rate(saturation, "peak_accepted", curve.saturation->peak_accepted);
    add_rate(saturation, "peak_at", curve.saturation->peak_at_load);
  }
  Json points = Json::array();
  for (const Point& point : curve.points) points.push_back(point_json(s, point));
  out["points"] = std::move(points);
  return out;
}

Json row_json(const ComparedRow& row) {
  const Scenario& s = *row.curve->scenario;
  Json out = {{"label", s.label},
              {"routing", s.routing},
              {"basis", s.compared->basis},
              {"vcs", s.hardware.vcs},
              {"buffer_flits", buffer_flits(s)},
              {"zero_load_latency_cycles", row.curve->zero.latency_cycles}};
  if (row.saturation) out["saturation_flit_per_node_cycle"] = *row.saturation;
  out["saturation_reached"] = row.reached;
  out["peak_accepted_flit_per_node_cycle"] = row.peak_accepted;
  if (row.ratio) out["ratio"] = *row.ratio;
  if (row.latency) out["latency_cycles"] = *row.latency;
  out["news_share_mean"] = row.news_share_mean;
  out["zero_load_latency_ns"] = to_ns(s, row.curve->zero.latency_cycles);
  if (row.saturation) out["saturation_gbyte_per_node_s"] = to_gbyte_per_s(s, *row.saturation);
  out["peak_accepted_gbyte_per_node_s"] = to_gbyte_per_s(s, row.peak_accepted);
  if (row.latency) out["latency_ns"] = to_ns(s, *row.latency);
  return out;
}

Json comparison_json(const Comparison& comparison) {
  const Scenario& first = *comparison.rows.front().curve->scenario;
  Json out = {{"combination", first.compared->combination},
              {"network", first.topology->name},
              {"packet_flits", first.packet},
              {"pattern", first.traffic},
              {"saturation_from", comparison.searched ? "search" : "list"},
              {"reference", comparison.rows[comparison.reference].curve->scenario->label}};
  if (comparison.common_load) {
    out["latency_at_load_flit_per_node_cycle"] = *comparison.common_load;
    out["latency_at_load_gbyte_per_node_s"] = to_gbyte_per_s(first, *comparison.common_load);
  }
  Json rows = Json::array();
  for (const ComparedRow& row : comparison.rows) rows.push_back(row_json(row));
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

std::string sweep_csv(const Sweep& sweep) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + std::string(column.name);
  text += "\n";
  for (const Curve& curve : sweep.curves)
    for (const Point& point : curve.points) {
      std::string line;
      for (const Column& column : columns)
        line += (&column == columns ? "" : ",") + column.text(curve, point);
      text += line + "\n";
    }
  return text;
}

std::string sweep_json(const Sweep& sweep) {
  Json curves = Json::array();
  for (const Curve& curve : sweep.curves) curves.push_back(curve_json(curve));
  Json out = {{"format", "weft-traffic-1"},
              {"weft", std::string(version())},
              {"stopped", sweep.stopped},
              {"digest", sweep_digest(sweep)},
              {"curves", std::move(curves)}};
  for (const Comparison& comparison : compare_curves(sweep))
    out["comparison"].push_back(comparison_json(comparison));
  if (sweep.failure) out["failure"] = sweep.failure->text();
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sweep_digest(const Sweep& sweep) {
  Fingerprint digest;
  digest.add(sweep_csv(sweep));
  return digest.text();
}

}  // namespace weft
