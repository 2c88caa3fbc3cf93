// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/quantity.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/program/run_record/counts_json.hpp>
#include <weft/program/simulated_run/summary.hpp>

namespace weft {

namespace {

using Json = nlohmann::ordered_json;

LinkUse use_of_links(const SimulationSetup& setup, const std::vector<LinkEntry>& links,
                     Duration time) {
  const Graph& graph = setup.machine.topology->graph;
  LinkUse use;
  std::uint64_t busiest = 0;
  double capacity = 0, busiest_capacity = 1;
  const double seconds = std::max(time.in_seconds(), 1e-12);
  for (const auto& [link, count] : links) {
    const RouterId source = graph.source_of(link);
    const Port& port = graph.ports(source)[link.index - graph.link(source, 0).index];
    if (!port.usable()) continue;
    const double rate =
        setup.machine.hardware.cabling(graph.link_classes()[port.link_class]).rate.in_byte_per_s();
    ++use.links;
    use.packets += count.packets;
    use.bytes += count.bytes;
    capacity += rate;
    if (count.bytes <= busiest) continue;
    busiest = count.bytes;
    busiest_capacity = rate;
    use.busiest = router_name(*setup.machine.topology, source) + " to " +
                  router_name(*setup.machine.topology, port.peer);
  }
  use.busiest_bytes = busiest;
  const auto bytes = static_cast<double>(use.bytes);
  use.mean_rate = use.links == 0 ? 0 : bytes / seconds / static_cast<double>(use.links);
  use.efficiency = capacity <= 0 ? 0 : bytes / seconds / capacity;
  use.busiest_efficiency = static_cast<double>(busiest) / seconds / busiest_capacity;
  return use;
}

void collect_ranks(const std::vector<RankEntry>& ranks, RunSummary& f) {
  detail::Wide waited = 0, spent = 0;
  f.waited_min = Duration::max();
  for (const RankEntry& entry : ranks) {
    const RankCounts& counts = entry.counts;
    f.program_time = std::max(f.program_time, entry.reached);
    f.messages += counts.messages;
    f.bytes += counts.bytes;
    waited += counts.waited.in_ps();
    spent += counts.spent.in_ps();
    f.waited_min = std::min(f.waited_min, counts.waited);
    if (counts.waited > f.waited_max) {
      f.waited_max = counts.waited;
      f.waited_max_rank = entry.rank;
    }
  }
  const std::int64_t n = std::max<std::int64_t>(f.ranks, 1);
  f.waited_mean = Duration::ps(static_cast<std::int64_t>(waited / n));
  f.spent_mean = Duration::ps(static_cast<std::int64_t>(spent / n));
}

ConnectionUse use_of_connections(const SimulationSetup& setup,
                                 const std::vector<RankEntry>& ranks) {
  ConnectionUse use;
  if (setup.layout == nullptr) return use;
  use.mode = conn::to_text(setup.connections.mode);
  use.shortcuts_max =
      setup.connections.mode == conn::Mode::managed ? setup.connections.shortcuts : 0;
  conn::Counts& sum = use.sum;
  for (const RankEntry& entry : ranks) {
    const conn::Counts& one = entry.connections;
    sum.add(one);
    use.held_mean += static_cast<double>(one.held_most) / static_cast<double>(ranks.size());
  }
  return use;
}

}  // namespace

RunSummary collect(const SimulationSetup& setup, const RunTotals& totals) {
  RunSummary f;
  f.network = setup.machine.topology->name;
  f.profile = setup.machine.profile;
  f.warnings = setup.machine.warnings;
  f.routing = setup.machine.routing;
  f.ranks = setup.placement->ranks();
  f.nodes = setup.machine.nodes();
  f.complete = totals.ranks_open() == 0;
  collect_ranks(totals.ranks, f);
  f.packets = totals.network.packets_sent;
  f.hops = totals.network.hops;
  f.links = use_of_links(setup, totals.links, f.program_time - Time::zero());
  f.connections = use_of_connections(setup, totals.ranks);
  f.latencies_ps = totals.latencies_ps;
  f.calls = totals.calls;
  f.windows = totals.windows;
  f.notes = totals.notes;
  return f;
}

namespace {

std::string duration_text(std::int64_t ps) {
  return to_text(Duration::ps(ps));
}

std::string line(const char* name, const std::string& value) {
  return fmt::format("{:<22}{}\n", name, value);
}

// Each connection is counted at both ends.
std::string connections_table(const ConnectionUse& use) {
  if (use.mode.empty()) return {};
  const conn::Counts& sum = use.sum;
  std::string out =
      line("connections", fmt::format("{}: mean {:.1f} per rank, max {}; {} opened", use.mode,
                                      use.held_mean, sum.held_most, sum.opened / 2));
  if (use.mode != "managed") return out;
  out += line("shortcuts", fmt::format("{} opened, {} evicted, {} declined", sum.shortcuts / 2,
                                       sum.evicted, sum.declined));
  return out +
         line("relayed", fmt::format("{} frames, {} bytes; a rank buffered at most {} bytes",
                                     sum.relayed_frames, sum.relayed_bytes, sum.passing_most));
}

}  // namespace

std::string to_table(const RunSummary& f) {
  const LinkUse& l = f.links;
  std::string out;
  out += line("program", f.program + (f.complete ? "" : " (" + f.ending + ")"));
  out += line("machine",
              fmt::format("{}, {} nodes, {}; {} ranks", f.network, f.nodes, f.routing, f.ranks));
  out += line("profile", f.profile);
  out += line("program time", to_text(f.program_time - Time::zero()));
  out += line("messages", fmt::format("{}, {} bytes{}", f.messages, f.bytes,
                                      f.carried_data ? "" : " (sizes only, no payload)"));
  out += line("packets", fmt::format("{}, {} hops", f.packets, f.hops));
  out += line("link bandwidth", fmt::format("{:.4g} GB/s on average, {:.2f} % of capacity",
                                            l.mean_rate / 1e9, l.efficiency * 100));
  if (!l.busiest.empty()) {
    out += line("busiest link", fmt::format("{}: {} bytes, {:.2f} % of capacity", l.busiest,
                                            l.busiest_bytes, l.busiest_efficiency * 100));
  }
  if (!f.latencies_ps.empty()) {
    const Histogram& h = f.latencies_ps;
    out += line("message latency",
                fmt::format("min {}, p50 {}, p99 {}, max {}", duration_text(h.min()),
                            duration_text(h.percentile(500)), duration_text(h.percentile(990)),
                            duration_text(h.max())));
  }
  out += line("waiting per rank",
              fmt::format("mean {}, min {}, max {} (rank {})", to_text(f.waited_mean),
                          to_text(f.waited_min), to_text(f.waited_max), f.waited_max_rank.index));
  if (const std::string uneven = uneven_call(f.calls, f.ranks, f.program_time.since_start());
      !uneven.empty())
    out += line("uneven", uneven);
  out += connections_table(f.connections);
  if (!f.calls.empty()) out += calls_table(f.calls, f.ranks);
  for (const auto& [name, w] : f.windows) {
    out += line("window", fmt::format("'{}' {} to {}: {} messages, {} bytes, waited {}", name,
                                      to_text(w.first_start - Time::zero()),
                                      to_text(w.last_stop - Time::zero()), w.messages, w.bytes,
                                      to_text(w.waited)));
  }
  return out;
}

namespace {

// Without messages over the network there is no latency, not one of zero.
Json latency_json(const Histogram& h) {
  if (h.empty()) return {{"count", 0}, {"buckets", Json::array()}};
  Json latency = {{"count", h.count()}};
  for (const auto& [name, value] : {std::pair{"min_ps", h.min()},
                                    {"p50_ps", h.percentile(500)},
                                    {"p90_ps", h.percentile(900)},
                                    {"p99_ps", h.percentile(990)},
                                    {"p999_ps", h.percentile(999)},
                                    {"max_ps", h.max()}}) {
    latency[name] = value;
  }
  Json buckets = Json::array();
  h.for_each_bucket([&](std::int64_t first, std::int64_t last, std::int64_t count) {
    buckets.push_back({first, last, count});
  });
  latency["buckets"] = std::move(buckets);
  return latency;
}

Json links_json(const LinkUse& links) {
  return {{"count", links.links},
          {"packets", links.packets},
          {"bytes", links.bytes},
          {"mean_byte_per_s", links.mean_rate},
          {"efficiency", links.efficiency},
          {"busiest", links.busiest},
          {"busiest_bytes", links.busiest_bytes},
          {"busiest_efficiency", links.busiest_efficiency}};
}

Json connections_json(const ConnectionUse& use) {
  Json json = {{"mode", use.mode},
               {"shortcuts_most", use.shortcuts_max},
               {"neighbours_most", use.sum.neighbours},
               {"held_mean", use.held_mean}};
  json.update(counts_json(use.sum));
  return json;
}

}  // namespace

std::string to_json(const RunSummary& f) {
  Json calls = Json::object();
  for (const auto& [name, t] : f.calls) {
    calls[name] = {{"count", t.count},
                   {"bytes", t.bytes},
                   {"time_ps", t.inside.in_ps()},
                   {"longest_ps", t.longest.in_ps()},
                   {"longest_rank", t.longest_rank.index}};
  }
  Json windows = Json::object(), notes = Json::array();
  for (const auto& [name, w] : f.windows) {
    windows[name] = {{"entries", w.entries},
                     {"first_start_ps", w.first_start.in_ps()},
                     {"last_stop_ps", w.last_stop.in_ps()},
                     {"inside_ps", w.inside.in_ps()},
                     {"waited_ps", w.waited.in_ps()},
                     {"spent_ps", w.spent.in_ps()},
                     {"messages", w.messages},
                     {"bytes", w.bytes}};
  }
  for (const Note& n : f.notes)
    notes.push_back({{"at_ps", n.at.in_ps()}, {"rank", n.rank.index}, {"text", n.text}});
  Json json = {
      {"weft", "sim"},
      {"version", 1},
      {"program", f.program},
      {"network", f.network},
      {"profile", f.profile},
      {"warnings", f.warnings},
      {"routing", f.routing},
      {"ranks", f.ranks},
      {"nodes", f.nodes},
      {"payload", f.carried_data ? "full" : "none"},
      {"complete", f.complete},
      {"ending", f.ending},
      {"program_time_ps", f.program_time.in_ps()},
      {"messages", f.messages},
      {"bytes", f.bytes},
      {"packets", f.packets},
      {"packet_hops", f.hops},
      {"links", links_json(f.links)},
      {"waiting_ps",
       {{"mean", f.waited_mean.in_ps()},
        {"least", f.waited_min.in_ps()},
        {"most", f.waited_max.in_ps()},
        {"most_rank", f.waited_max_rank.index}}},
      {"latency", latency_json(f.latencies_ps)},
      {"calls", calls},
      {"windows", windows},
      {"notes", notes},
  };
  if (!f.connections.mode.empty()) json["connections"] = connections_json(f.connections);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ranks_csv(const SimulationSetup& setup, const RunTotals& totals) {
  std::vector<RankRow> rows;
  rows.reserve(totals.ranks.size());
  for (const RankEntry& entry : totals.ranks) {
    rows.push_back({entry.rank, setup.placement->node(entry.rank),
                    entry.done ? entry.counts.ended.in_ps() : -1, entry.counts});
  }
  return ranks_csv(rows);
}

std::string calls_csv(const RunSummary& summary) {
  return calls_csv(summary.calls);
}

std::string connections_csv(const RunTotals& totals) {
  std::string out =
      "rank,neighbours,held_most,opened,shortcuts,evicted,declined,refused,relayed,relayed_bytes,"
      "passed_frames,passed_bytes,passing_bytes_most,repeated_frames\n";
  for (const RankEntry& entry : totals.ranks) {
    const conn::Counts& c = entry.connections;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", entry.rank.index,
                       c.neighbours, c.held_most, c.opened, c.shortcuts, c.evicted, c.declined,
                       c.refused, c.relayed_frames, c.relayed_bytes, c.passed_frames,
                       c.passed_bytes, c.passing_most, c.repeated);
  }
  return out;
}

std::string traffic_text(const RunTotals& totals) {
  return traffic_text(totals.ranks.size(), totals.pairs);
}

}  // namespace weft
