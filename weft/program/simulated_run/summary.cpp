// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/quantity.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/network/topo/facts.hpp>
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

// A node with several cards has a link for each.
struct CardPlace {
  std::uint32_t node, card;
};

CardPlace card_of(const SimulationSetup& setup, NodeId end) {
  const auto cards = static_cast<std::uint32_t>(setup.machine.node.rails);
  return {end.index / cards, end.index % cards};
}

std::string card_name(const SimulationSetup& setup, NodeId end) {
  const auto [node, card] = card_of(setup, end);
  const std::string name = node_name(*setup.machine.topology, end);
  return setup.machine.node.rails == 1 ? name
                                       : fmt::format("{} (node {}, card {})", name, node, card);
}

std::string link_name(const SimulationSetup& setup, LinkId link) {
  const Topology& topology = *setup.machine.topology;
  return router_name(topology, topology.graph.source_of(link)) + " to " +
         router_name(topology, topology.graph.port(link).peer);
}

std::string node_link_name(const SimulationSetup& setup, NodeId end, bool into_node) {
  const Topology& topology = *setup.machine.topology;
  const std::string node = card_name(setup, end);
  const std::string router = router_name(topology, topology.graph.router_of(end));
  return into_node ? router + " to " + node : node + " to " + router;
}

void use_of_node_links(const SimulationSetup& setup, const std::vector<NodeLinkEntry>& links,
                       RunSummary& f) {
  const NetworkHardware& hardware = setup.machine.hardware;
  const double seconds = std::max((f.program_time - Time::zero()).in_seconds(), 1e-12);
  const auto sum_up = [&](LinkCount NodeLinkCount::*count, Rate rate, bool into_node) {
    NodeLinkUse use;
    for (const NodeLinkEntry& link : links) {
      const LinkCount& one = link.count.*count;
      use.packets += one.packets;
      use.bytes += one.bytes;
      if (one.bytes <= use.busiest_bytes) continue;
      use.busiest_bytes = one.bytes;
      use.busiest = node_link_name(setup, link.node, into_node);
    }
    const double most = seconds * rate.in_byte_per_s();
    const auto count_of = static_cast<double>(std::max<std::size_t>(links.size(), 1));
    use.mean_rate = static_cast<double>(use.bytes) / seconds / count_of;
    use.efficiency = static_cast<double>(use.bytes) / count_of / most;
    use.busiest_efficiency = static_cast<double>(use.busiest_bytes) / most;
    return use;
  };
  f.node_links = links.size();
  f.injected = sum_up(&NodeLinkCount::injected, hardware.injection_rate(), false);
  f.ejected = sum_up(&NodeLinkCount::ejected, hardware.ejection_rate(), true);
}

std::string cost_of_files(const StorageModel& storage,
                          const std::map<std::string, CallTotals>& calls) {
  const auto first = calls.lower_bound("MPI_File_");
  if (first == calls.end() || !first->first.starts_with("MPI_File_")) return {};
  if (!storage.any()) return "no servers ([storage]): their bytes cost a copy in memory";
  return fmt::format("{} servers, stripes of {}, disks of {:.4g} GB/s and {} per stripe",
                     storage.nodes.size(), to_text(storage.stripe),
                     storage.disk_rate.in_byte_per_s() / 1e9, to_text(storage.latency));
}

std::vector<PacketWaiting> waiting_of_packets(const SimulationSetup& setup,
                                              const RunTotals& totals) {
  const Graph& graph = setup.machine.topology->graph;
  // A single cable that differs belongs to the class that it would have otherwise.
  std::vector<PacketWaiting> classes(graph.link_classes().size()), kinds;
  for (const auto& [link, count] : totals.links) {
    classes[graph.base_class(graph.port(link).link_class)].add(
        count, [&, id = link] { return link_name(setup, id); });
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (graph.base_class(c) != c) continue;
    kinds.push_back(std::move(classes[c]));
    kinds.back().kind = graph.link_classes()[c];
  }
  if (kinds.size() == 1) kinds[0].kind = "links";
  PacketWaiting injection, ejection;
  injection.kind = "injection";
  ejection.kind = "ejection";
  for (const auto& [node, count] : totals.node_links) {
    injection.add(count.injected, [&, id = node] { return node_link_name(setup, id, false); });
    ejection.add(count.ejected, [&, id = node] { return node_link_name(setup, id, true); });
  }
  kinds.push_back(std::move(injection));
  kinds.push_back(std::move(ejection));
  return kinds;
}

const NodeLinkUse& busier(const RunSummary& f) {
  return f.injected.busiest_efficiency > f.ejected.busiest_efficiency ? f.injected : f.ejected;
}

void collect_ranks(const std::vector<RankEntry>& ranks, RunSummary& f) {
  detail::Wide waited = 0, spent = 0, in_mpi = 0;
  f.waited_min = Duration::max();
  for (const RankEntry& entry : ranks) {
    const RankCounts& counts = entry.counts;
    f.program_time = std::max(f.program_time, entry.reached);
    f.messages += counts.messages;
    f.bytes += counts.bytes;
    waited += counts.waited.in_ps();
    spent += counts.spent.in_ps();
    in_mpi += counts.in_mpi.in_ps();
    if (counts.in_mpi > f.in_mpi_max) {
      f.in_mpi_max = counts.in_mpi;
      f.in_mpi_max_rank = entry.rank;
    }
    f.waited_min = std::min(f.waited_min, counts.waited);
    if (counts.waited > f.waited_max) {
      f.waited_max = counts.waited;
      f.waited_max_rank = entry.rank;
    }
  }
  const std::int64_t n = std::max<std::int64_t>(f.ranks, 1);
  f.waited_mean = Duration::ps(static_cast<std::int64_t>(waited / n));
  f.spent_mean = Duration::ps(static_cast<std::int64_t>(spent / n));
  f.in_mpi_mean = Duration::ps(static_cast<std::int64_t>(in_mpi / n));
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

void PacketWaiting::add(const LinkCount& count, const std::function<std::string()>& name) {
  queue += count.waited_in_queue;
  turn += count.waited_for_turn;
  room += count.waited_for_room;
  if (count.waited() <= most_time) return;
  most_time = count.waited();
  most = name();
}

RunSummary collect(const SimulationSetup& setup, const RunTotals& totals) {
  RunSummary f;
  f.network = setup.machine.topology->name;
  f.profile = setup.machine.profile;
  f.model = to_text(setup.model);
  f.warnings = setup.machine.warnings;
  f.cables_down = find_cables_down(*setup.machine.topology);
  f.routing = setup.machine.routing;
  f.ranks = setup.placement->ranks();
  f.nodes = setup.machine.nodes();
  f.complete = totals.ranks_open() == 0;
  collect_ranks(totals.ranks, f);
  f.protocols = totals.protocols;
  f.eager_limit = setup.machine.messages.eager_limit;
  if (totals.network.flow_bytes > 0) {
    f.uncertain_share = static_cast<double>(totals.network.uncertain_bytes) /
                        static_cast<double>(totals.network.flow_bytes);
  }
  f.packets = totals.network.packets_sent;
  f.hops = totals.network.hops;
  f.links = use_of_links(setup, totals.links, f.program_time - Time::zero());
  use_of_node_links(setup, totals.node_links, f);
  f.packet_waiting = waiting_of_packets(setup, totals);
  f.connections = use_of_connections(setup, totals.ranks);
  f.latencies_ps = totals.latencies_ps;
  f.calls = totals.calls;
  f.files = cost_of_files(setup.machine.storage, f.calls);
  f.algorithms = totals.algorithms;
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

// A message by rendezvous waits for a round trip, and for its receive.
std::string protocols_table(const RunSummary& f) {
  const ProtocolCounts& p = f.protocols;
  if (p.eager + p.rendezvous == 0) return {};
  return line("protocols",
              fmt::format("{} eager (up to {}), {} by rendezvous; {} came before their receive",
                          p.eager, to_text(f.eager_limit), p.rendezvous, p.unexpected));
}

// What of the time in MPI calls is no waiting: a faster network does not shorten it.
std::string processor_table(const RunSummary& f) {
  if (f.in_mpi_max == Duration::zero()) return {};
  const double share = 100 * f.in_mpi_mean.in_seconds() / f.program_time.since_start().in_seconds();
  const char* const on = f.connections.mode.empty()
                             ? "copies of messages (node.memory_rate) and calls"
                             : "copies of messages (node.memory_rate), calls, connections";
  return line("processor in MPI",
              fmt::format("mean {}, max {} (rank {}): {}, {:.2f} % of the program time",
                          to_text(f.in_mpi_mean), to_text(f.in_mpi_max), f.in_mpi_max_rank.index,
                          on, share));
}

// Mean per packet, by kind of link, and the link that most of it was for.
std::string waiting_table(const RunSummary& f) {
  Duration all;
  const PacketWaiting* worst = nullptr;
  const auto packets = static_cast<std::int64_t>(std::max<std::uint64_t>(f.packets, 1));
  std::string parts;
  for (const PacketWaiting& kind : f.packet_waiting) {
    all += kind.sum();
    if (kind.most.empty()) continue;
    if (worst == nullptr || kind.most_time > worst->most_time) worst = &kind;
    std::string text;
    for (const auto& [time, what] :
         {std::pair{kind.queue, "in queues"}, {kind.turn, "for a turn"}, {kind.room, "for room"}}) {
      if (time > Duration::zero())
        text += fmt::format("{}{} {}", text.empty() ? " " : ", ", to_text(time / packets), what);
    }
    parts += (parts.empty() ? "" : "; ") + kind.kind + text;
  }
  if (worst == nullptr) return {};
  return line("waiting per packet", fmt::format("mean {}: {}", to_text(all / packets), parts)) +
         line("most waited for",
              fmt::format("{}: {:.2f} % of that", worst->most,
                          100 * worst->most_time.in_seconds() / all.in_seconds()));
}

// Below it flows have been within 5 % of packets in what was measured (docs/validation.md).
constexpr double much_uncertain = 0.1;

}  // namespace

std::string to_table(const RunSummary& f) {
  const LinkUse& l = f.links;
  std::string out;
  out += line("program", f.program + (f.complete ? "" : " (" + f.ending + ")"));
  out += line("machine",
              fmt::format("{}, {} nodes, {}; {} ranks", f.network, f.nodes, f.routing, f.ranks));
  if (!f.cables_down.empty()) out += line("cables down", list_cables(f.cables_down));
  out += line("profile", f.profile);
  if (f.model == to_text(Fidelity::flow))
    out += line("model", "flow: messages share links, and meet no buffers");
  if (f.model == to_text(Fidelity::flit))
    out += line("model", "flit: VCs share links flit by flit");
  if (f.uncertain_share.value_or(0) >= much_uncertain) {
    out += line("uncertain", fmt::format("{:.0f} % of the bytes, where packets would hold each "
                                         "other up: compare a smaller case, --compare-models",
                                         *f.uncertain_share * 100));
  }
  out += line("program time", to_text(f.program_time - Time::zero()));
  out += line("messages", fmt::format("{}, {} bytes{}", f.messages, f.bytes,
                                      f.carried_data ? "" : " (sizes only, no payload)"));
  out += protocols_table(f);
  if (!f.files.empty()) out += line("files", f.files);
  if (!f.algorithms.empty()) out += line("algorithms", algorithms_text(f.algorithms));
  out += line("packets", fmt::format("{}, {} hops", f.packets, f.hops));
  out += line("link bandwidth", fmt::format("{:.4g} GB/s on average, {:.2f} % of capacity",
                                            l.mean_rate / 1e9, l.efficiency * 100));
  if (!l.busiest.empty()) {
    out += line("busiest link", fmt::format("{}: {} bytes, {:.2f} % of capacity", l.busiest,
                                            l.busiest_bytes, l.busiest_efficiency * 100));
  }
  if (const NodeLinkUse& n = busier(f); !n.busiest.empty()) {
    out += line("busiest node link", fmt::format("{}: {} bytes, {:.2f} % of capacity", n.busiest,
                                                 n.busiest_bytes, n.busiest_efficiency * 100));
  }
  if (!f.latencies_ps.empty()) {
    const Histogram& h = f.latencies_ps;
    out += line("message latency",
                fmt::format("min {}, p50 {}, p99 {}, max {}", duration_text(h.min()),
                            duration_text(h.percentile(500)), duration_text(h.percentile(990)),
                            duration_text(h.max())));
  }
  out += waiting_table(f);
  out += line("waiting per rank",
              fmt::format("mean {}, min {}, max {} (rank {})", to_text(f.waited_mean),
                          to_text(f.waited_min), to_text(f.waited_max), f.waited_max_rank.index));
  out += processor_table(f);
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

Json node_links_json(const RunSummary& f) {
  const auto direction = [](const NodeLinkUse& use) {
    return Json{{"packets", use.packets},
                {"bytes", use.bytes},
                {"mean_byte_per_s", use.mean_rate},
                {"efficiency", use.efficiency},
                {"busiest", use.busiest},
                {"busiest_bytes", use.busiest_bytes},
                {"busiest_efficiency", use.busiest_efficiency}};
  };
  const NodeLinkUse& most = busier(f);
  return {{"count", f.node_links},
          {"busiest", most.busiest},
          {"busiest_direction", &most == &f.injected ? "injection" : "ejection"},
          {"busiest_bytes", most.busiest_bytes},
          {"busiest_efficiency", most.busiest_efficiency},
          {"injection", direction(f.injected)},
          {"ejection", direction(f.ejected)}};
}

Json waiting_json(const RunSummary& f) {
  Duration all;
  Json kinds = Json::array();
  for (const PacketWaiting& kind : f.packet_waiting) {
    all += kind.sum();
    kinds.push_back({{"kind", kind.kind},
                     {"queue_ps", kind.queue.in_ps()},
                     {"turn_ps", kind.turn.in_ps()},
                     {"room_ps", kind.room.in_ps()},
                     {"most", kind.most},
                     {"most_ps", kind.most_time.in_ps()}});
  }
  Json json = {{"sum_ps", all.in_ps()}};
  if (f.packets > 0) json["mean_ps"] = all.in_ps() / static_cast<std::int64_t>(f.packets);
  json["kinds"] = std::move(kinds);
  return json;
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
      {"model", f.model},
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
      {"protocols",
       {{"eager", f.protocols.eager},
        {"rendezvous", f.protocols.rendezvous},
        {"unexpected", f.protocols.unexpected},
        {"eager_limit_bytes", f.eager_limit.count}}},
      {"packets", f.packets},
      {"packet_hops", f.hops},
      {"links", links_json(f.links)},
      {"node_links", node_links_json(f)},
      {"packet_waiting", waiting_json(f)},
      {"waiting_ps",
       {{"mean", f.waited_mean.in_ps()},
        {"least", f.waited_min.in_ps()},
        {"most", f.waited_max.in_ps()},
        {"most_rank", f.waited_max_rank.index}}},
      {"processor_in_mpi_ps",
       {{"mean", f.in_mpi_mean.in_ps()},
        {"most", f.in_mpi_max.in_ps()},
        {"most_rank", f.in_mpi_max_rank.index}}},
      {"latency", latency_json(f.latencies_ps)},
      {"calls", calls_json(f.calls)},
      {"algorithms", algorithms_json(f.algorithms)},
      {"windows", windows},
      {"notes", notes},
  };
  if (!f.files.empty()) json["files"] = f.files;
  if (f.uncertain_share) json["uncertain_share"] = *f.uncertain_share;
  if (!f.cables_down.empty()) json["cables_down_names"] = f.cables_down;
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

std::string node_links_csv(const SimulationSetup& setup, const RunTotals& totals) {
  const NetworkHardware& hardware = setup.machine.hardware;
  const auto text_of = [](const LinkCount& count, Rate rate) {
    const Duration busy = serialise(Bytes{static_cast<std::int64_t>(count.bytes)}, rate);
    return fmt::format("{},{},{},{}", count.packets, count.bytes, busy.in_ps(),
                       count.waited().in_ps());
  };
  std::string out =
      "node,card,injected_packets,injected_bytes,injected_busy_ps,injected_waited_ps,"
      "ejected_packets,ejected_bytes,ejected_busy_ps,ejected_waited_ps\n";
  for (const auto& [end, count] : totals.node_links) {
    const auto [node, card] = card_of(setup, end);
    out +=
        fmt::format("{},{},{},{}\n", node, card, text_of(count.injected, hardware.injection_rate()),
                    text_of(count.ejected, hardware.ejection_rate()));
  }
  return out;
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
