// SPDX-License-Identifier: Apache-2.0
// The report for people.
#include <algorithm>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/study/traffic/blocks.hpp>
#include <weft/study/traffic/people_units.hpp>
#include <weft/study/traffic/report.hpp>

namespace weft {
namespace {

std::string rate_text(const Scenario& scenario, double load) {
  return fmt::format("{:.4g} flit/node/cycle ({:.4g} GB/s per node)", load,
                     to_gbyte_per_s(scenario, load));
}

std::string title(const Curve& curve) {
  const Scenario& s = *curve.scenario;
  std::string text = fmt::format(
      "{}: {}, profile {}\n  routing {}, {} VC{}, {} packets, {} traffic, {} injection, seed {}\n",
      s.label, s.topology->name, s.profile, s.routing, s.hardware.vcs,
      s.hardware.vcs == 1 ? "" : "s",
      s.sizes.kinds().size() == 1 ? s.packet + "-flit" : "mixed (" + s.packet + ")", s.traffic,
      s.injection, s.seed);
  if (const auto down = find_cables_down(*s.topology); !down.empty())
    text += fmt::format("  cables down {}\n", list_cables(down));
  text += fmt::format(
      "  cycle {} ({} flit); zero-load latency {:.2f} cycles ({:.1f} ns), {:.3f} hops ({})\n",
      to_text(s.cycle()), to_text(s.hardware.flit), curve.zero.latency_cycles,
      to_ns(s, curve.zero.latency_cycles), curve.zero.hops,
      curve.zero.exact ? "every pair" : "a sample of the pairs");
  if (curve.capacity > 0)
    text += fmt::format("  capacity for uniform traffic {}\n", rate_text(s, curve.capacity));
  return text;
}

std::string remark(const Point& p) {
  std::string text;
  if (p.state != PointState::steady) text = to_text(p.state);
  if (p.state == PointState::steady && !p.converged) text = "not converged";
  return text;
}

// The unit of each group of columns stands above its last column.
std::string table_head() {
  return fmt::format("  {:>35} {:>8} {:>46} {:>18}\n", "flit/node/cycle", "GB/s", "cycles", "ns") +
         fmt::format(
             "  {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8} {:>6} "
             "{:>8} {:>9}\n",
             "load", "offered", "accepted", "worst", "accepted", "latency", "network", "p50", "p99",
             "max", "latency", "p99", "hops", "busiest", "packets");
}

std::string row(const Scenario& scenario, const Point& p) {
  std::string latency =
      fmt::format("{:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8}", "-", "-", "-", "-", "-", "-", "-");
  if (p.claims_latency()) {
    const auto ps = [&](int per_mille) {
      return static_cast<double>(p.packets.latencies_ps.percentile(per_mille));
    };
    latency = fmt::format("{:9.2f} {:9.2f} {:8.0f} {:8.0f} {:8.0f} {:9.1f} {:8.0f}", p.latency(),
                          p.network_latency(), p.cycles(ps(500)), p.cycles(ps(990)),
                          p.cycles(static_cast<double>(p.packets.latencies_ps.max())),
                          p.packets.latency_ps.mean() / 1000, ps(990) / 1000);
  }
  std::string line = fmt::format(
      "  {:8.5f} {:8.5f} {:8.5f} {:8.5f} {:8.3f} {} {:6.3f} {:7.1f}% {:9}  {}", p.load, p.offered,
      p.accepted, p.accepted_worst, to_gbyte_per_s(scenario, p.accepted), latency,
      p.packets.hops.mean(), 100 * p.link_utilisation_max, p.packets.born, remark(p));
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

// The link between a node and its router that was used most, and at which load.
std::string node_link_text(const Curve& curve) {
  const auto most = std::max_element(
      curve.points.begin(), curve.points.end(), [](const Point& a, const Point& b) {
        return a.node_link_utilisation_max < b.node_link_utilisation_max;
      });
  if (most == curve.points.end() || most->node_link_utilisation_max == 0) return "";
  const Topology& topology = *curve.scenario->topology;
  const std::string node = node_name(topology, most->busiest_node);
  const std::string router = router_name(topology, topology.graph.router_of(most->busiest_node));
  return fmt::format("  busiest node link {}: {:.1f}% at load {:.5f}\n",
                     most->busiest_ejects ? router + " to " + node : node + " to " + router,
                     100 * most->node_link_utilisation_max, most->load);
}

std::string saturation_text(const Curve& curve, double factor) {
  if (!curve.saturation) return "";
  const Saturation& s = *curve.saturation;
  const auto rate = [&](double load) { return rate_text(*curve.scenario, load); };
  std::string text;
  if (s.load.unstable == 0) {
    text = fmt::format("  saturation not reached: {} is carried\n", rate(s.load.stable));
  } else if (s.load.stable == 0) {
    text = fmt::format("  saturation below {}\n", rate(s.load.unstable));
  } else {
    text = fmt::format("  saturation {}: latency at most {:g} x zero load; not at {:.4g}\n",
                       rate(s.load.stable), factor, s.load.unstable);
  }
  return text +
         fmt::format("  peak accepted {}, at load {:.4g}\n", rate(s.peak_accepted), s.peak_at_load);
}

std::string number(const char* sign, const std::optional<double>& value, int places) {
  return value ? fmt::format("{}{:.{}f}", sign, *value, places) : "-";
}

std::string compared_line(const ComparedRow& row, const ComparedRow& reference, std::size_t width) {
  const Scenario& s = *row.curve->scenario;
  const char* const bound = row.reached ? "" : ">=";
  const char* ratio_bound = "";
  if (row.reached != reference.reached) ratio_bound = row.reached ? "<=" : ">=";
  const std::string news =
      row.news_share_mean > 0 ? fmt::format("{:.2f}", 100 * row.news_share_mean) : "-";
  const auto in = [&](double (*unit)(const Scenario&, double), const std::optional<double>& value) {
    return value ? std::optional(unit(s, *value)) : std::nullopt;
  };
  return fmt::format(
      "  {:<{}} {:>3} {:>8} {:>9.2f} {:>15} {:>15.4f} {:>7} {:>9} {:>6} {:>10} {:>10.3f} {:>9}\n",
      s.routing, width, s.hardware.vcs, fmt::format("{:g}", buffer_flits(s)),
      row.curve->zero.latency_cycles, number(bound, row.saturation, 4), row.peak_accepted,
      number(ratio_bound, row.ratio, 2), number("", row.latency, 2), news,
      number(bound, in(to_gbyte_per_s, row.saturation), 3), to_gbyte_per_s(s, row.peak_accepted),
      number("", in(to_ns, row.latency), 1));
}

std::string comparison_text(const Comparison& comparison) {
  std::size_t width = 6;
  for (const ComparedRow& row : comparison.rows)
    width = std::max(width, row.curve->scenario->routing.size());
  constexpr const char* line =
      "  {:<{}} {:>3} {:>8} {:>9} {:>15} {:>15} {:>7} {:>9} {:>6} {:>10} {:>10} {:>9}\n";
  const char* const found = comparison.searched ? "saturation" : "highest steady";
  std::string text = fmt::format("comparison: {}\n", comparison.text);
  text += fmt::format(line, "policy", width, "VCs", "buffer", "zero load", found, "peak accepted",
                      "ratio", "latency", "news", comparison.searched ? found : "steady", "peak",
                      "latency");
  text += fmt::format(line, "", width, "", "flits/VC", "cycles", "flit/node/cycle",
                      "flit/node/cycle", "x", "cycles", "%", "GB/s/node", "GB/s/node", "ns");
  const ComparedRow& reference = comparison.rows[comparison.reference];
  for (const ComparedRow& row : comparison.rows) text += compared_line(row, reference, width);
  text += fmt::format("  ratio to {}; ", label_in_block(*reference.curve->scenario));
  text += comparison.common_load
              ? fmt::format("latency at load {:.4g}, the highest tried that all carried\n\n",
                            *comparison.common_load)
              : std::string("no load that was tried was carried by all\n\n");
  return text;
}

}  // namespace

std::string comparison_table(const Sweep& sweep, double factor) {
  const std::vector<Comparison> comparisons = compare_curves(sweep);
  if (comparisons.empty()) return "";
  std::string text;
  for (const Comparison& comparison : comparisons) text += comparison_text(comparison);
  const bool searched = comparisons.front().searched;
  if (searched)
    text += fmt::format(
        "saturation: the highest load with latency at most {:g} x zero load, by search (>=: all "
        "were carried);\n",
        factor);
  else
    text +=
        "highest steady: the highest load of the list below the first that saturated (>=: none "
        "did);\n";
  return text + fmt::format(
                    "peak accepted: the most at any load tried; news: the routers' information "
                    "packets' mean\nshare of cable time, at {}\n",
                    searched ? "saturation" : "the highest steady load");
}

std::string sweep_table(const Sweep& sweep, double factor) {
  std::string text;
  for (const Curve& curve : sweep.curves) {
    text += title(curve);
    if (!curve.points.empty()) text += table_head();
    for (const Point& point : curve.points) text += row(*curve.scenario, point);
    text += node_link_text(curve);
    text += saturation_text(curve, factor);
    text += "\n";
  }
  text +=
      "load, offered, accepted, worst: per node, worst is the node that received least; latency: "
      "birth to last\nflit; network: from entering it; busiest: utilisation of the busiest cable\n";
  return text;
}

}  // namespace weft
