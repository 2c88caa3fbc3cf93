// SPDX-License-Identifier: Apache-2.0
// Loads the JSON files of weft traffic, map and probe.
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <weft/network/topo/network_file.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/output/report/heat.hpp>
#include <weft/output/report/load_parts.hpp>

namespace weft::report {

namespace {

Json value_or_null(const Json& json, const char* key) {
  return json.contains(key) ? json.at(key) : Json();
}

Fact fact(const char* key, const char* label, double value, const Unit& unit,
          const char* better = "") {
  return {key, label, pretty(value, unit), value, better};
}

// Base units of a curve's cycle and of a flit per node and cycle; nothing in files of old versions.
struct CurveUnits {
  double cycle_ps = 0, byte_per_s = 0;
  bool operator==(const CurveUnits&) const = default;
};

std::optional<CurveUnits> units_of(const Json& curve) {
  const Json cycle = value_or_null(curve, "cycle_ps"), flit = value_or_null(curve, "flit_bytes");
  if (!cycle.is_number() || !flit.is_number() || cycle.get<double>() <= 0) return std::nullopt;
  return CurveUnits{cycle, flit.get<double>() / cycle.get<double>() * 1e12};
}

// Charts over load: in flits and cycles with a second scale, or in base units alone where curves
// differ in what a flit or cycle is.
class LoadCharts {
 public:
  explicit LoadCharts(const Json& curves) {
    for (const Json& curve : curves) {
      const auto units = units_of(curve);
      if (&curve != &curves.front() && units != units_) mixed_ = true;
      units_ = units;
      known_ = known_ && units.has_value();
    }
    mixed_ = mixed_ && known_;
    latency_ = make("latency-load", "Latency over load");
    accepted_ = make("throughput", "Throughput over load");
    latency_.chart.y = axis("mean latency", "", latency_.y_unit, latency_.y_second_unit);
    latency_.chart.hollow_means = "saturated: no steady latency";
    accepted_.chart.y =
        axis("accepted", ", flit/node/cycle", accepted_.y_unit, accepted_.y_second_unit);
    accepted_.chart.hollow_means = "saturated or stopped";
  }

  void add(const Json& curve) {
    const CurveUnits factor = mixed_ ? *units_of(curve) : CurveUnits{1, 1};
    Series latency{curve.at("label"), {}}, accepted{curve.at("label"), {}};
    bool saturated = false;
    for (const Json& point : curve.at("points")) {
      const double x = point.at("load_flit_per_node_cycle").get<double>() * factor.byte_per_s;
      const Json cycles = value_or_null(point, "latency_cycles"),
                 taken = value_or_null(point, "accepted_flit_per_node_cycle"),
                 state = value_or_null(point, "state");
      const bool hollow = state.is_string() && state != "steady";
      saturated = saturated || state == "saturated";
      if (state == "saturated")
        latency.points.push_back({x, std::numeric_limits<double>::infinity(), true});
      else if (cycles.is_number() && !saturated)
        latency.points.push_back({x, cycles.get<double>() * factor.cycle_ps, hollow});
      if (taken.is_number())
        accepted.points.push_back({x, taken.get<double>() * factor.byte_per_s, hollow});
    }
    latency_.chart.series.push_back(std::move(latency));
    accepted_.chart.series.push_back(std::move(accepted));
  }

  std::vector<ChartView> take() && { return {std::move(latency_), std::move(accepted_)}; }

 private:
  ChartView make(const char* id, const char* title) const {
    ChartView view{id, {}};
    view.chart.title = title;
    view.chart.x = axis("offered load", ", flit/node/cycle", view.x_unit, view.x_second_unit);
    return view;
  }

  // Of latencies if `per` is empty, of rates per node otherwise.
  Axis axis(const std::string& what, const std::string& per, Unit& unit, Unit& second) const {
    const bool rate = !per.empty();
    const std::string plain = what + (rate ? " per node" : "");
    const Unit base = rate ? "B/s" : "ps";
    unit = mixed_ ? base : rate ? "" : "cycles";
    Axis axis{mixed_ ? plain : what + per, false, 0, std::nullopt};
    if (mixed_ || !known_ || !units_) return axis;
    second = base;
    axis.second = SecondScale{plain, rate ? units_->byte_per_s : units_->cycle_ps};
    return axis;
  }

  std::optional<CurveUnits> units_;
  bool known_ = true, mixed_ = false;
  ChartView latency_, accepted_;
};

// A number in another unit, or nothing where one of them is missing.
Json scaled(const Json& value, const std::optional<CurveUnits>& units, double CurveUnits::*factor) {
  return value.is_number() && units ? Json(value.get<double>() * *units.*factor) : Json();
}

// Loads the network by its name: a spec, or a file that still exists.
void add_network(const std::string& name, RunView& view) {
  const auto topology = load_topology(name);
  if (!topology) {
    view.remarks.push_back("The network cannot be drawn: " + topology.error().text());
    return;
  }
  std::vector<std::uint32_t> kept;
  // A computer is drawn once, though it has a card in every plane.
  const bool planes = topology->shape->planes() != nullptr;
  view.network = without_gaps(facts_of(planes ? plane_of(*topology, 0) : *topology), kept);
}

}  // namespace

void add_traffic(const Json& json, RunView& view) {
  LoadCharts charts(json.at("curves"));
  Table points{"points",
               "Points",
               {{"curve"},
                {"offered"},
                {"accepted"},
                {"latency", "cycles"},
                {"state"},
                {"fullest link", "share"},
                {"hops"},
                {"fullest node link", "share"},
                {"offered per node", "B/s"},
                {"accepted per node", "B/s"},
                {"latency", "ps"}},
               {}};
  Table curves{"curves",
               "Curves",
               {{"curve"},
                {"network"},
                {"routing"},
                {"VCs", "1"},
                {"pattern"},
                {"latency without load", "cycles"},
                {"saturation"},
                {"latency without load", "ps"},
                {"saturation per node", "B/s"}},
               {}};
  for (const Json& curve : json.at("curves")) {
    const std::string label = curve.at("label");
    const auto units = units_of(curve);
    charts.add(curve);
    for (const Json& point : curve.at("points")) {
      const Json& offered = point.at("load_flit_per_node_cycle");
      const Json cycles = value_or_null(point, "latency_cycles"),
                 taken = value_or_null(point, "accepted_flit_per_node_cycle");
      points.rows.push_back({label, offered, taken, cycles, value_or_null(point, "state"),
                             value_or_null(point, "link_utilisation_max"),
                             value_or_null(point, "hops_mean"),
                             value_or_null(point, "node_link_utilisation_max"),
                             scaled(offered, units, &CurveUnits::byte_per_s),
                             scaled(taken, units, &CurveUnits::byte_per_s),
                             scaled(cycles, units, &CurveUnits::cycle_ps)});
    }
    const Json zero = value_or_null(curve, "zero_load"),
               saturation = value_or_null(curve, "saturation");
    const Json idle = zero.is_object() ? value_or_null(zero, "latency_cycles") : Json(),
               load = saturation.is_object()
                          ? value_or_null(saturation, "stable_flit_per_node_cycle")
                          : saturation;
    curves.rows.push_back({label, curve.at("network"), curve.at("routing"), curve.at("vcs"),
                           curve.at("pattern"), idle, load,
                           scaled(idle, units, &CurveUnits::cycle_ps),
                           scaled(load, units, &CurveUnits::byte_per_s)});
  }
  view.facts.push_back(fact("curves", "Curves", static_cast<double>(curves.rows.size()), "1"));
  view.facts.push_back(fact("points", "Points", static_cast<double>(points.rows.size()), "1"));
  view.charts = std::move(charts).take();
  view.tables = {std::move(curves), std::move(points)};
}

void add_map(const Json& json, RunView& view) {
  const Json &before = json.at("before"), &after = json.at("after");
  for (const auto& [key, label] :
       {std::pair{"network", "Network"}, {"routing", "Routing"}, {"objective", "Objective"}}) {
    view.facts.push_back({key, label, json.at(key).get<std::string>()});
  }
  view.facts.push_back(fact("ranks", "Ranks", json.at("ranks"), "1"));
  Table maps{"maps",
             "Maps",
             {{"map"},
              {"value"},
              {"hops", "1"},
              {"hop-bytes", "B"},
              {"fullest link", "B"},
              {"mean link", "B"}},
             {}};
  for (const Json* map : {&before, &after}) {
    maps.rows.push_back({fmt::format("{}: {}", map == &before ? "before" : "after",
                                     map->at("name").get<std::string>()),
                         map->at("value"), map->at("hops"), map->at("hop_bytes"),
                         map->at("link_max"), map->at("link_mean")});
  }
  for (const auto& [key, label, unit] : {std::tuple{"hop_bytes", "Hop-bytes", "B"},
                                         {"link_max", "Busiest link", "B"},
                                         {"hops", "Hops", "1"},
                                         {"value", "Value of the objective", ""}}) {
    view.facts.push_back(fact(key, label, after.at(key), unit, "less"));
    const double was = before.at(key), is = after.at(key);
    if (was > 0)
      view.facts.back().text +=
          fmt::format(" (before: {}, {:+.1f} %)", pretty(was, unit), 100 * (is - was) / was);
  }
  Table tried{"candidates", "Maps that were tried", {{"map"}, {"value"}}, {}};
  for (const Json& candidate : json.at("candidates"))
    tried.rows.push_back({candidate.at("name"), candidate.at("value")});
  view.tables = {std::move(maps), std::move(tried)};
  view.placement = {before.at("name"), after.at("name"),
                    before.at("nodes").get<std::vector<std::uint32_t>>(),
                    after.at("nodes").get<std::vector<std::uint32_t>>()};
  add_network(json.at("network"), view);
}

namespace {

void add_probed_network(const Json& json, RunView& view) {
  NetworkFacts facts;
  facts.name = "found by weft probe";
  facts.family = NetworkFacts::Family::graph;
  const Json &switches = json.at("switches"), &links = json.at("links");
  facts.routers = static_cast<std::uint32_t>(switches.size());
  for (const Json& one : switches) facts.names.push_back(one.at("name"));
  const auto router = [&](const Json& index) {
    const auto number = index.get<std::int32_t>();
    // Whatever the file says, no picture may index beyond its lists.
    if (number < 0 || number >= static_cast<std::int32_t>(facts.routers))
      throw Json::other_error::create(501, "a link or host names a switch that is not there",
                                      &index);
    return number;
  };
  for (const Json& link : links) {
    const std::int32_t a = router(link.at("a")), b = router(link.at("b"));
    for (const auto& [from, to] : {std::pair{a, b}, {b, a}}) {
      facts.link_from.push_back(from);
      facts.link_to.push_back(to);
      facts.link_port.push_back(0);
    }
  }
  for (const Json& host : json.at("hosts")) {
    if (host.at("on").is_number()) facts.node_router.push_back(router(host.at("on")));
  }
  find_levels(facts);
  view.network = std::move(facts);
}

}  // namespace

void add_probe(const Json& json, RunView& view) {
  const auto count = [&](const char* key) { return static_cast<double>(json.at(key).size()); };
  view.facts.push_back(fact("hosts", "Hosts", count("hosts"), "1"));
  view.facts.push_back(fact("switches", "Switches", count("switches"), "1"));
  view.facts.push_back({"tree", "A tree", json.at("tree").get<bool>() ? "yes" : "no"});
  view.facts.push_back(fact("host_rate", "Rate of a host", json.at("host_bit_per_s"), "b/s"));
  view.facts.push_back(
      fact("round_trips", "Round trips measured", json.at("counts").at("round_trips"), "1"));
  view.facts.push_back(
      fact("seconds", "Time taken", json.at("counts").at("seconds").get<double>() * 1e12, "ps"));
  for (const Json& remark : json.at("remarks")) view.remarks.push_back(remark);
  const auto name_of = [&](const Json& index) {
    const Json& switches = json.at("switches");
    const auto i = index.get<std::size_t>();
    return i < switches.size() ? switches.at(i).at("name") : index;
  };
  Table hosts{"hosts", "Hosts", {{"host"}, {"switch"}, {"sure", "share"}}, {}};
  for (const Json& host : json.at("hosts")) {
    const Json& on = host.at("on");
    hosts.rows.push_back(
        {host.at("name"), on.is_number() ? name_of(on) : Json(), value_or_null(host, "sure")});
  }
  Table links{"links",
              "Links between switches",
              {{"from"}, {"to"}, {"latency", "ps"}, {"rate", "b/s"}, {"filled"}, {"sure", "share"}},
              {}};
  for (const Json& link : json.at("links")) {
    links.rows.push_back({name_of(link.at("a")), name_of(link.at("b")),
                          link.at("latency_ns").get<double>() * 1000,
                          value_or_null(link, "rate_bit_per_s"), value_or_null(link, "filled"),
                          value_or_null(link, "sure")});
  }
  view.tables = {std::move(hosts), std::move(links)};
  add_probed_network(json, view);
}

}  // namespace weft::report
