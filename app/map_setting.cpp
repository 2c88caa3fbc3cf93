// SPDX-License-Identifier: Apache-2.0
#include "map_setting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "own_command.hpp"
#include <fmt/format.h>
#include <wordexp.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/network/topo/random_map.hpp>
#include <weft/real/launch/hosts.hpp>
#include <weft/simulate/machine/throttles.hpp>
#include <weft/study/map/map_file.hpp>
#include <weft/study/map/paths.hpp>
#include <weft/workload/traces/any_traffic.hpp>

namespace weft::app {

namespace {

// `text`: the number or the name of a node, or the name of its router.
Result<std::uint32_t> parse_node(std::string_view text, const Topology& topology) {
  if (const auto number = parse_int(text); number) {
    if (*number < 0 || *number >= topology.graph.node_count())
      return Error::call(fmt::format("there is no node {}; {} has 0 to {}", *number, topology.name,
                                     topology.graph.node_count() - 1));
    return static_cast<std::uint32_t>(*number);
  }
  auto node = find_node(topology, text);
  if (node) return node->index;
  const auto router = find_router(topology, text);
  if (router && !topology.graph.nodes_at(*router).empty())
    return topology.graph.nodes_at(*router).front().index;
  return Error::call(node.error().message());
}

// The words of an option. Those of "@FILE" come from the file, where '#' starts a comment.
Result<std::vector<std::string>> read_words(const char* option,
                                            const std::vector<std::string>& values) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view text, std::string_view separators) {
    while (!text.empty()) {
      std::size_t end = 0;  // Commas inside coordinates, as in (3,0,1), separate nothing.
      for (int depth = 0; end < text.size(); ++end) {
        depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        if (depth == 0 && separators.find(text[end]) != std::string_view::npos) break;
      }
      if (const auto word = trim(text.substr(0, end)); !word.empty()) words.emplace_back(word);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  for (const std::string& value : values) {
    if (!value.starts_with('@')) {
      add(value, ",");
      continue;
    }
    const auto text = read_file(value.substr(1));
    if (!text) return Error(text.error()).during(option);
    for (const std::string_view line : split(*text, '\n')) add(line.substr(0, line.find('#')), ",");
  }
  return words;
}

Result<std::vector<NodeId>> read_forbidden(const MapOptions& o, const Topology& topology) {
  auto words = read_words("--forbid", o.forbid);
  if (!words) return std::move(words).error();
  std::vector<NodeId> nodes;
  for (const std::string& word : *words) {
    const std::size_t dash = word.find('-');
    if (dash != std::string::npos && parse_int(word.substr(0, dash)) &&
        parse_int(word.substr(dash + 1))) {
      auto first = parse_node(word.substr(0, dash), topology);
      auto last = parse_node(word.substr(dash + 1), topology);
      if (!first) return std::move(first).error().during("--forbid");
      if (!last) return std::move(last).error().during("--forbid");
      if (*last < *first) return Error::call("--forbid: '" + word + "' ends before it begins");
      for (std::uint32_t n = *first; n <= *last; ++n) nodes.emplace_back(n);
      continue;
    }
    auto node = parse_node(word, topology);
    if (!node) return std::move(node).error().during("--forbid");
    nodes.emplace_back(*node);
  }
  return nodes;
}

Result<std::vector<std::uint32_t>> read_fixed(const MapOptions& o, const Topology& topology) {
  auto words = read_words("--fix", o.fix);
  if (!words) return std::move(words).error();
  std::vector<std::uint32_t> fixed;
  for (const std::string& word : *words) {
    // "RANK=NODE"; in a file also "RANK NODE".
    const std::size_t gap = word.find_first_of("= \t");
    if (gap == std::string::npos) return Error::call("--fix: '" + word + "' is not RANK=NODE");
    const auto rank = parse_int(trim(word.substr(0, gap)));
    if (!rank || *rank < 0 || *rank >= (1 << 26))
      return Error::call("--fix: '" + word.substr(0, gap) + "' is not a rank");
    auto node = parse_node(trim(std::string_view(word).substr(gap + 1)), topology);
    if (!node) return std::move(node).error().during("--fix");
    const auto r = static_cast<std::size_t>(*rank);
    if (fixed.size() <= r) fixed.resize(r + 1, map::anywhere);
    if (fixed[r] != map::anywhere && fixed[r] != *node)
      return Error::call(fmt::format("--fix: rank {} is named twice", r));
    fixed[r] = *node;
  }
  return fixed;
}

// The time of a byte on each class of links, relative to the fastest; empty if all are equal.
std::vector<double> slowness(const MachineDescription& machine) {
  const std::vector<std::string>& classes = machine.topology->graph.link_classes();
  std::vector<double> rate;
  for (const std::string& name : classes)
    rate.push_back(machine.hardware.cabling(name).rate.in_byte_per_s());
  if (rate.empty()) return {};
  const double fastest = *std::max_element(rate.begin(), rate.end());
  if (std::all_of(rate.begin(), rate.end(), [&](double r) { return r == fastest; })) return {};
  for (double& r : rate) r = fastest / r;
  return rate;
}

// The plane with the most cables down: messages are split over all planes, and this one is the last
// to deliver its part.
int slowest_plane(const Topology& topology, const Planes& planes) {
  std::vector<std::uint32_t> down(static_cast<std::size_t>(planes.count), 0);
  const Graph& graph = topology.graph;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l)
    if (graph.port(LinkId(l)).connected() && !graph.port(LinkId(l)).up)
      ++down[graph.source_of(LinkId(l)).index / planes.routers];
  return static_cast<int>(std::max_element(down.begin(), down.end()) - down.begin());
}

// Of several copies of a network a map is judged in one.
Status look_at_one_plane(MapSetting& setting) {
  MachineDescription& machine = setting.machine;
  if (machine.topology->cards == 1) return {};
  const Planes* const planes = machine.topology->shape->planes();
  if (planes == nullptr || planes->count != machine.topology->cards)
    return Error::call(fmt::format(
        "weft map takes nodes with one card in each plane of the network, and a node "
        "of {} has {} cards in one: give the network of one card (without rails= and "
        "node.cards) to place ranks by it, and judge the map on the whole network "
        "with weft sim --map",
        machine.topology->name, machine.topology->cards / (planes == nullptr ? 1 : planes->count)));
  setting.planes = planes->count;
  const int plane = slowest_plane(*machine.topology, *planes);
  if (!machine.topology->graph.all_up())
    setting.facts.emplace_back("plane",
                               fmt::format("judged in p{}, which has the most cables down", plane));
  machine.topology = std::make_shared<const Topology>(plane_of(*machine.topology, plane));
  auto policy = make_policy(machine.routing, *machine.topology, machine.hardware.vcs);
  if (!policy) return std::move(policy).error();
  setting.policy = *std::move(policy);
  return {};
}

// A byte of a message costs a link of one plane its share of it.
std::vector<double> slowness_in_planes(const MapSetting& setting) {
  std::vector<double> made = slowness(setting.machine);
  if (setting.planes == 1) return made;
  if (made.empty()) made.assign(setting.machine.topology->graph.link_classes().size(), 1);
  for (double& one : made) one /= setting.planes;
  return made;
}

struct Words {  // A text split as a shell would do it, without running commands.
  wordexp_t found{};
  int status;
  explicit Words(const std::string& text)
      : status(::wordexp(text.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF)) {}
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (status == 0) ::wordfree(&found);
  }
};

// Simulates the program on the same machine, with ranks in order, to get its traffic.
Result<TrafficMatrix> traffic_of_program(const MapOptions& o) {
  const Words words(o.program);
  if (words.status != 0 || words.found.we_wordc == 0)
    return Error::call("--program: '" + o.program + "' is not a program with arguments");
  const TemporaryFolder folder;
  if (folder.path().empty())
    return Error::run(std::string("cannot make a temporary folder: ") + std::strerror(errno));
  std::vector<std::string> command = {"weft",     "sim",         "--matrix",
                                      "--output", folder.path(), "--quiet"};
  const std::vector<std::string> machine = to_arguments(o.machine);
  command.insert(command.end(), machine.begin(), machine.end());
  if (o.ranks > 0) command.insert(command.end(), {"-n", std::to_string(o.ranks)});
  command.insert(command.end(), {"--ranks-per-node", std::to_string(o.ranks_per_node)});
  for (std::size_t i = 0; i < words.found.we_wordc; ++i)
    command.emplace_back(words.found.we_wordv[i]);
  // Standard output is for the report alone.
  const auto end = run_own_command(command, OutputTo::standard_error);
  if (!end) return Error(end.error());
  if (end->status != 0)
    return Error::run("--program: the simulation of '" + o.program + "' failed, see above");
  return read_any_traffic(folder.path() + "/traffic.txt", {});
}

Result<TrafficMatrix> read_pattern(const MapOptions& o) {
  if (!o.program.empty()) return traffic_of_program(o);
  auto format = parse_traffic_format(o.traffic_format);
  if (!format) return Error::call("--traffic-format: " + format.error().message());
  return read_any_traffic(o.traffic, {static_cast<std::uint32_t>(o.ranks), *format});
}

// Reads the machine. If neither an option nor the description names a routing, maps are judged by
// that of the published tool.
Status read_machine_for(const MapOptions& o, MapSetting& setting) {
  MachineWords words = o.machine.words;
  if (!o.order.empty()) words.sets.push_back("nic.order=\"" + o.order + "\"");
  auto reader = MachineReader::open(words);
  if (!reader) return std::move(reader).error();
  auto machine = reader->read_all();
  if (!machine) return std::move(machine).error();
  if (!machine->routing_given) {
    words.routing = map::default_judging(*machine->topology);
    reader = MachineReader::open(words);
    if (!reader) return std::move(reader).error();
    machine = reader->read(machine->topology);
    if (!machine) return std::move(machine).error();
    machine->routing_given = false;  // By nobody but this function.
  }
  machine->warnings = find_network_throttles(reader->config(), *machine);
  auto policy = reader->make_policy(*machine);
  if (!policy) return std::move(policy).error();
  setting.machine = *std::move(machine);
  setting.policy = *std::move(policy);
  return {};
}

Status read_hosts(const MapOptions& o, MapSetting& setting) {
  if (o.hosts.empty()) return {};
  const auto hosts = launch::read_hosts(o.hosts);
  if (!hosts) return Error(hosts.error());
  for (const launch::Host& host : *hosts) setting.hosts.push_back(host.name);
  const std::size_t nodes = setting.machine.topology->graph.node_count();
  if (setting.hosts.size() == nodes) return {};
  return Error::input(fmt::format("--hosts: {} names {} hosts, but the network has {} nodes",
                                  o.hosts, setting.hosts.size(), nodes));
}

// Ranks of a real run stay on its hosts, unless others are named.
void keep_to_hosts(const MapRecord& record, const PresentNodes& found, MapSetting& setting,
                   map::Request& request) {
  const Topology& topology = *setting.machine.topology;
  if (record.kind != "run" || !setting.hosts.empty() || found.by_host.empty()) return;
  for (std::uint32_t node = 0; node < topology.graph.node_count(); ++node)
    setting.hosts.push_back(node_name(topology, NodeId(node)));
  std::vector<bool> used(setting.hosts.size(), false);
  for (std::size_t host = 0; host < found.by_host.size(); ++host) {
    used[found.by_host[host]] = true;
    setting.hosts[found.by_host[host]] = record.hosts[host];
  }
  for (std::uint32_t node = 0; node < used.size(); ++node)
    if (!used[node]) request.forbidden.emplace_back(node);
}

// The map of the run, where it is a map of this problem.
void add_present(const MapRecord& record, const PresentNodes& found, MapSetting& setting) {
  setting.facts.emplace_back("record", record.folder);
  std::string reason = found.reason;
  if (reason.empty() && found.by_rank.size() != setting.problem->ranks()) {
    reason = fmt::format("the run had {} ranks, the traffic has {}", found.by_rank.size(),
                         setting.problem->ranks());
  }
  if (reason.empty()) {
    auto present = setting.problem->from_nodes(found.by_rank);
    if (present)
      setting.present = *std::move(present);
    else
      reason = present.error().message();
  }
  if (!reason.empty())
    setting.facts.emplace_back("present map", "not compared, identity instead: " + reason);
}

}  // namespace

Result<MapSetting> read_map_setting(const MapOptions& o, const MapRecord* record) {
  MapSetting setting;
  if (Status s = read_machine_for(o, setting); !s) return std::move(s).error();
  if (record != nullptr && o.machine.words.sets.empty() && record->has_machine(o)) {
    // In the complete description of a record every key is given. What holds what back there was
    // decided when only some were.
    std::erase_if(setting.machine.warnings, [&](const std::string& line) {
      return std::find(record->warnings.begin(), record->warnings.end(), line) ==
             record->warnings.end();
    });
  }
  if (Status s = look_at_one_plane(setting); !s) return std::move(s).error();
  const Topology& topology = *setting.machine.topology;
  map::Request request;
  request.slots_per_node = static_cast<std::uint32_t>(o.ranks_per_node);
  request.routing = setting.machine.routing;
  request.link_slowness = slowness_in_planes(setting);
  auto forbidden = read_forbidden(o, topology);
  if (!forbidden) return std::move(forbidden).error();
  request.forbidden = *std::move(forbidden);
  auto fixed = read_fixed(o, topology);
  if (!fixed) return std::move(fixed).error();
  request.fixed = *std::move(fixed);
  if (Status s = read_hosts(o, setting); !s) return std::move(s).error();
  PresentNodes present;
  if (record != nullptr) {
    present = find_present_nodes(*record, topology, setting.hosts);
    keep_to_hosts(*record, present, setting, request);
  }
  auto traffic = read_pattern(o);
  if (!traffic) return std::move(traffic).error();
  auto problem =
      map::Problem::make(setting.machine.topology, *std::move(traffic), std::move(request));
  if (!problem) return std::move(problem).error();
  setting.problem = std::make_unique<map::Problem>(*std::move(problem));
  setting.pattern = o.program.empty() ? o.traffic : o.program;
  if (record != nullptr) add_present(*record, present, setting);
  return setting;
}

Result<map::RankMap> read_rank_map(const std::string& path, const map::Problem& problem) {
  auto nodes = map::read_map(path, problem.topology(), problem.ranks());
  if (!nodes) return std::move(nodes).error();
  auto made = problem.from_nodes(*nodes);
  if (!made) return Error::input(made.error().message()).at(path, 0);
  return made;
}

Result<map::RankMap> named_rank_map(const std::string& word, const map::Problem& problem) {
  if (word == "identity") return problem.in_order();
  const auto seed = random_map_seed(word);
  if (!seed) return seed.error();
  return seed->has_value() ? random_rank_map(problem, **seed) : read_rank_map(word, problem);
}

map::RankMap random_rank_map(const map::Problem& problem, std::uint64_t seed) {
  std::vector<std::uint32_t> ranks(problem.slots());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return problem.in_order(ranks, random_places(problem.slots(), seed));
}

}  // namespace weft::app
