// SPDX-License-Identifier: Apache-2.0
// weft net: describes, checks, draws and converts a network, or compares several.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "machine_options.hpp"
#include "net_calibrate.hpp"
#include "output.hpp"
#include "piped_file.hpp"
#include "presets.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <weft/base/config.hpp>
#include <weft/base/file.hpp>
#include <weft/network/topo/export.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/network/topo/search.hpp>
#include <weft/study/compare/table.hpp>

namespace weft::app {
namespace {

using Json = nlohmann::ordered_json;

enum class NetFormat { text, json, csv };
const std::map<std::string, NetFormat> net_formats = {
    {"text", NetFormat::text}, {"json", NetFormat::json}, {"csv", NetFormat::csv}};

struct NetOptions {
  MachineOptions machine;
  std::vector<std::string> others;  // Networks beside the first.
  std::string prices;
  bool figures = false;
  bool calibrate = false;
  bool list = false;
  bool links = false;
  std::vector<std::string> path;
  std::string format = "text";
  std::string export_format;
  std::string output;

  NetFormat output_format() const { return net_formats.at(format); }
  bool json() const { return output_format() == NetFormat::json; }
  bool csv() const { return output_format() == NetFormat::csv; }
  // More is told than what follows from the graph alone.
  bool compares() const { return figures || !others.empty() || !prices.empty() || csv(); }
};

struct Step {  // A cable of a path, in the direction of the path.
  RouterId from, to;
  const Port* port;
};

struct PathFound {
  RouterId from, to;
  std::vector<Step> steps;
};

std::string kinds_text() {
  std::string out = "Networks that can be named by a short spec:\n\n";
  for (const TopologyKind& kind : topology_kinds()) {
    out += fmt::format("{}\n    {}\n", kind.usage, kind.help);
    for (const SpecParameter& p : kind.parameters)
      out += fmt::format("    {:<8}{}\n", p.name.empty() ? "(value)" : p.name, p.help);
    if (!kind.example.empty()) out += fmt::format("    example: {}\n", kind.example);
    out += "\n";
  }
  out +=
      "Every kind but graph:FILE also takes\n"
      "    planes  copies of the network, with a card of every node in each (1)\n"
      "    rails   routers of a group, of which every node of the group has a card at each (1)\n"
      "    example: fattree:k=4,levels=2,planes=2\n\n";
  out += "Machines that are described in full (preset:NAME in place of a spec):\n\n";
  for (const Preset& preset : find_presets())
    out += fmt::format("preset:{}\n    {}\n", preset.name, preset.help);
  return out;
}

Json kinds_json() {
  Json kinds = Json::array();
  for (const TopologyKind& kind : topology_kinds()) {
    Json parameters = Json::array();
    for (const SpecParameter& p : kind.parameters)
      parameters.push_back({{"name", p.name}, {"help", p.help}});
    kinds.push_back({{"name", kind.name},
                     {"usage", kind.usage},
                     {"help", kind.help},
                     {"example", kind.example},
                     {"parameters", parameters}});
  }
  return kinds;
}

std::string range(int low, int high) {
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

std::string hops(std::size_t count) {
  return fmt::format("{} hop{}", count, count == 1 ? "" : "s");
}

std::string row(std::string_view label, std::string_view value) {
  return fmt::format("{:<18} {}\n", label, value);
}

std::string facts_text(const MachineDescription& machine, const Facts& f) {
  std::string out = row("network", machine.topology->name);
  out += row("profile", machine.profile);
  out += row("nodes", std::to_string(f.nodes));
  if (f.cards > 1) out += row("cards per node", std::to_string(f.cards));
  out += row("routers", std::to_string(f.routers));
  out += row("cables", std::to_string(f.cables));
  for (const ClassFacts& c : f.classes) out += row("  " + c.name, std::to_string(c.cables));
  if (f.cables_down > 0) out += row("cables down", list_cables(f.names_down));
  out += row("cables per router", range(f.network_ports_min, f.network_ports_max));
  out +=
      row(f.cards > 1 ? "cards per router" : "nodes per router", range(f.nodes_min, f.nodes_max));
  if (f.distance) {
    const bool sampled = f.distance->ground == Ground::sample;
    out +=
        row("diameter", fmt::format("{}{} hops", sampled ? "at least " : "", f.distance->diameter));
    out += row("average distance",
               fmt::format(
                   "{:.4f} hops{}", f.distance->average,
                   sampled ? fmt::format(" (estimated from {} of the routers)", f.distance->sources)
                           : ""));
  }
  if (f.bisection)
    out += row("bisection",
               fmt::format("{}{} cables", f.bisection->ground == Ground::exact ? "" : "at most ",
                           f.bisection->cables));
  out += row("more", "latency, capacity, cost and power: --figures");
  return out;
}

Json facts_json(const MachineDescription& machine, const Facts& f) {
  Json classes = Json::array();
  for (const ClassFacts& c : f.classes) classes.push_back({{"name", c.name}, {"cables", c.cables}});
  Json out = {{"network", machine.topology->name},
              {"profile", machine.profile},
              {"warnings", machine.warnings},
              {"nodes", f.nodes},
              {"routers", f.routers},
              {"cables", f.cables},
              {"cables_down", f.cables_down},
              {"link_classes", classes},
              {"cables_per_router_min", f.network_ports_min},
              {"cables_per_router_max", f.network_ports_max},
              {"nodes_per_router_min", f.nodes_min},
              {"nodes_per_router_max", f.nodes_max},
              {"connected", f.distance.has_value()}};
  if (f.cables_down > 0) out["cables_down_names"] = f.names_down;
  if (f.cards > 1) out["cards_per_node"] = f.cards;
  if (f.distance) {
    out["diameter_hops"] = f.distance->diameter;
    out["distance_average_hops"] = f.distance->average;
    out["distance_ground"] = to_text(f.distance->ground);
    if (f.distance->ground == Ground::sample) out["distance_sources"] = f.distance->sources;
  }
  if (f.bisection) {
    out["bisection_cables"] = f.bisection->cables;
    out["bisection_ground"] = to_text(f.bisection->ground);
  }
  return out;
}

// Each cable once, from the router with the lower number.
std::vector<Step> all_cables(const Graph& g) {
  std::vector<Step> cables;
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    for (const Port& p : g.ports(RouterId(r)))
      if (p.connected() && p.peer.index > r) cables.push_back({RouterId(r), p.peer, &p});
  return cables;
}

std::string steps_text(const Topology& t, const std::vector<Step>& steps) {
  std::string out;
  for (const Step& s : steps)
    out +=
        fmt::format("  {}.{} -- {}.{}  {}{}\n", router_name(t, s.from),
                    s.port - t.graph.ports(s.from).data(), router_name(t, s.to), s.port->peer_port,
                    t.graph.link_classes()[s.port->link_class], s.port->up ? "" : "  down");
  return out;
}

Json steps_json(const Topology& t, const std::vector<Step>& steps) {
  Json out = Json::array();
  for (const Step& s : steps)
    out.push_back({{"a", router_name(t, s.from)},
                   {"a_port", s.port - t.graph.ports(s.from).data()},
                   {"b", router_name(t, s.to)},
                   {"b_port", s.port->peer_port},
                   {"class", t.graph.link_classes()[s.port->link_class]},
                   {"up", s.port->up}});
  return out;
}

// The router of this name, or the router of the node of this name; nodes come first.
Result<RouterId> find_end(const Topology& t, const std::string& name) {
  auto node = find_node(t, name);
  if (node) return t.graph.router_of(*node);
  auto router = find_router(t, std::string_view(name));
  if (router) return *router;
  return Error::call(fmt::format(
      "no node or router '{}' in {}; nodes are called '{}', routers '{}'", name, t.name,
      t.graph.node_count() > 0 ? node_name(t, NodeId(0)) : "", router_name(t, RouterId(0))));
}

Result<PathFound> find_path(const Topology& t, const std::vector<std::string>& ends) {
  auto from = find_end(t, ends[0]);
  if (!from) return std::move(from).error();
  auto to = find_end(t, ends[1]);
  if (!to) return std::move(to).error();
  const auto links = shortest_path(t.graph, *from, *to);
  if (!links)
    return Error::run(fmt::format("there is no path from '{}' to '{}'", ends[0], ends[1]));
  PathFound found{*from, *to, {}};
  for (const LinkId link : *links) {
    const Port& port = t.graph.port(link);
    found.steps.push_back({t.graph.source_of(link), port.peer, &port});
  }
  return found;
}

Status describe(const MachineDescription& machine, const NetOptions& options) {
  const Topology& t = *machine.topology;
  std::optional<PathFound> path;
  if (!options.path.empty()) {
    auto found = find_path(t, options.path);
    if (!found) return std::move(found).error();
    path = *std::move(found);
  }
  const Facts facts = find_facts(t);
  if (options.json()) {
    Json out = facts_json(machine, facts);
    if (path) out["path"] = steps_json(t, path->steps);
    if (options.links) out["links"] = steps_json(t, all_cables(t.graph));
    return print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  std::string out = facts_text(machine, facts);
  if (path)
    out += fmt::format("path from {} to {}: {}\n{}", options.path[0], options.path[1],
                       hops(path->steps.size()), steps_text(t, path->steps));
  if (options.links) out += "links\n" + steps_text(t, all_cables(t.graph));
  return print(out);
}

Status write_export(const Topology& t, const NetOptions& options) {
  auto text = export_topology(t, options.export_format);
  if (!text) return std::move(text).error();
  return options.output.empty() ? print(*text) : write_file(options.output, *text);
}

Status check_options(const NetOptions& o) {
  if (o.list || !requested_lists(o.machine).empty()) return {};
  if (o.machine.words.net.empty())
    return Error::call("which network? Give a spec or a file, or --list");
  if (o.calibrate && (o.compares() || o.machine.show || o.links || !o.path.empty() ||
                      !o.export_format.empty() || o.json()))
    return Error::call("--calibrate prints a table for the network file; leave out the others");
  if (o.compares() && (o.machine.show || o.links || !o.path.empty() || !o.export_format.empty()))
    return Error::call(
        "--show-machine, --links, --path and --export are about one network; leave out the others, "
        "--figures, --prices and --format csv");
  if (!o.output.empty() && o.export_format.empty()) return Error::call("-o needs --export");
  if (!o.export_format.empty() && (o.json() || o.links || !o.path.empty()))
    return Error::call("--export writes the network alone; leave out --format, --links and --path");
  return {};
}

// The class of cables that a key is about ("global" of link.global.length=15m), or the cables of
// link(A,B).rate; empty: none.
std::string cables_of(const std::string& set) {
  const auto empty = Config::read_text("", "");
  const auto config = empty->with_overrides({set});
  if (!config) return {};  // An error for whoever reads the machine.
  const std::vector<std::string> names = config->subtables("link");
  return names.empty() ? std::string() : names.front();
}

bool has_cables(const MachineWords& words, const std::string& name) {
  const auto reader = MachineReader::open(words);
  if (!reader) return false;
  const auto network = reader->make_network();
  if (!network) return false;
  const std::vector<std::string>& classes = network->graph.link_classes();
  return std::find(classes.begin(), classes.end(), name) != classes.end();
}

struct ComparedNetwork {
  MachineWords words;
  std::vector<std::string> remarks;  // Keys that do not hold for it.
};

// Keys hold for all networks, but those about a class of cables only for networks that have it. If
// none does, all keep the key, and reading the first is an error that names it.
std::vector<ComparedNetwork> list_networks(const NetOptions& options) {
  std::vector<std::string> for_all, for_some;
  for (const std::string& set : options.machine.words.sets)
    (cables_of(set).empty() ? for_all : for_some).push_back(set);
  std::vector<ComparedNetwork> networks(1 + options.others.size());
  for (std::size_t i = 0; i < networks.size(); ++i) {
    networks[i].words = options.machine.words;
    networks[i].words.sets = for_all;
    if (i > 0) networks[i].words.net = options.others[i - 1];
  }
  for (const std::string& set : for_some) {
    std::vector<ComparedNetwork*> having;
    for (ComparedNetwork& one : networks) {
      one.words.sets.push_back(set);
      if (has_cables(one.words, cables_of(set))) having.push_back(&one);
    }
    for (ComparedNetwork& one : networks) {
      if (having.empty() || std::find(having.begin(), having.end(), &one) != having.end()) continue;
      one.words.sets.pop_back();
      one.remarks.push_back(fmt::format("{} has no cables '{}', so '{}' does not hold for it",
                                        one.words.net, cables_of(set), set));
    }
  }
  return networks;
}

Status compare_networks(const NetOptions& options) {
  Result<compare::Prices> prices = compare::example_prices();
  if (!options.prices.empty()) prices = compare::read_prices(options.prices);
  if (!prices) return std::move(prices).error();
  std::vector<compare::NetworkFacts> found;
  for (const ComparedNetwork& network : list_networks(options)) {
    const auto reader = MachineReader::open(network.words);
    if (!reader) return Error(reader.error());
    auto facts = compare::find_network_facts(*reader, *prices);
    if (!facts) return std::move(facts).error();
    facts->warnings.insert(facts->warnings.end(), network.remarks.begin(), network.remarks.end());
    warn_of(facts->warnings);
    found.push_back(*std::move(facts));
  }
  if (options.json()) return print(compare::to_json(found, *prices));
  return print(options.csv() ? compare::to_csv(found, *prices) : compare::to_text(found, *prices));
}

Status run_net(const NetOptions& options) {
  if (Status s = check_options(options); !s) return s;
  if (options.list) return print(options.json() ? kinds_json().dump(2) + "\n" : kinds_text());
  if (const std::string lists = requested_lists(options.machine); !lists.empty())
    return print(lists);
  if (options.compares()) return compare_networks(options);
  const auto reader = MachineReader::open(options.machine.words);
  if (!reader) return Error(reader.error());
  auto topology = reader->make_network();
  if (!topology) return std::move(topology).error();
  const auto machine = reader->read(std::make_shared<const Topology>(*std::move(topology)));
  if (!machine) return Error(machine.error());
  if (Status s = reader->check(*machine); !s) return s;
  if (options.calibrate) return print_calibration(*reader, *machine);
  Status done = options.machine.show            ? print(machine->text)
                : options.export_format.empty() ? describe(*machine, options)
                                                : write_export(*machine->topology, options);
  if (!done) return done;
  warn_of(machine->warnings);
  // Checked last, so that a network in pieces can still be described and drawn.
  if (Status s = validate(*machine->topology); !s || !machine->routing_given) return s;
  const auto policy = reader->make_policy(*machine);
  return policy ? Status() : Status(policy.error());
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<NetOptions>();
  add_machine_options(parser, options->machine, "NETWORK");
  reads_file(parser.add_option(
                 "OTHERS", options->others,
                 "More networks, to be compared with the first: parts, latency, capacity, cost"))
      ->type_name("SPEC|FILE")
      ->transform(resolve_preset);
  reads_file(parser.add_option(
                 "--prices", options->prices,
                 "Prices of switches, cables and cards, for a comparison (default: examples)"))
      ->type_name("FILE");
  parser.add_flag("--figures", options->figures,
                  "Also latency, capacity, cost and power of one network, as in a comparison");
  parser.add_flag("--calibrate", options->calibrate,
                  "Play a few random permutations with packets and with flows, and print the table "
                  "[flow] that makes flows take as long (for --model flow)");
  parser.add_flag("--list", options->list,
                  "List the kinds of network that a spec can name, and presets");
  auto* const format = parser.add_option("--format", options->format, "Output format")
                           ->check(CLI::IsMember({"text", "json", "csv"}))
                           ->capture_default_str();
  keep_former_name(parser.add_flag_callback("--json", [options] { options->format = "json"; }),
                   format);
  parser.add_flag("--links", options->links, "Also print every cable");
  parser
      .add_option("--path", options->path,
                  "Also print a shortest path between two nodes or routers")
      ->expected(2)
      ->type_name("A B");
  std::string formats;
  for (const ExportFormat& f : export_formats())
    formats += (formats.empty() ? "" : ", ") + fmt::format("{} ({})", f.name, f.help);
  parser
      .add_option("--export", options->export_format,
                  "Write the network itself instead, in this format: " + formats)
      ->type_name("FORMAT");
  parser
      .add_option("-o,--output", options->output,
                  "Output file of --export (default: standard output)")
      ->type_name("FILE");
  parser.footer(
      "Examples:\n"
      "  weft net torus:16x16x16\n"
      "  weft net torus:8x8x8 --figures\n"
      "  weft net fattree:radix=36,levels=3,taper=2 --format json\n"
      "  weft net dragonfly:a=8,h=4,p=4 --path n0 n500\n"
      "  weft net examples/network/torus.toml --links\n"
      "  weft net torus:8x8x8 --calibrate\n"
      "  weft net hyperx:4x4 --export dot -o hyperx.dot\n"
      "  weft net preset:slingshot preset:infiniband-ndr\n"
      "  weft net torus:8x8x8 fattree:radix=32,levels=2 --prices prices.toml\n"
      "Exit code: 0 done, 1 a node cannot reach another, 2 usage, 3 bad input.");
  return [options] { return run_net(*options); };
}

}  // namespace

Command net_command() {
  return {"net", "Describe, check, draw, convert and compare networks", &set_up};
}

}  // namespace weft::app
