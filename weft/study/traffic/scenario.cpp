// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weft/base/config.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/network_file.hpp>
#include <weft/workload/patterns/injection.hpp>

namespace weft {
namespace {

// What a program on the machine would ask for ([node], [messages]) does not matter to packets.
constexpr std::array<std::string_view, 11> tables = {"network", "router",   "link",    "link.*",
                                                     "nic",     "packet",   "routing", "traffic",
                                                     "node",    "messages", "news"};
constexpr std::int64_t buffer_packets_max = 4096;

bool is_description(std::string_view net) {
  return net.ends_with(".toml");
}

// Makes one scenario. Keeps where each setting came from, so that errors can say so.
class Maker {
 public:
  explicit Maker(const ScenarioRequest& request) : request_(request) {}

  Status open();
  Result<std::shared_ptr<const Topology>> make_network();
  Result<Scenario> make(std::shared_ptr<const Topology> topology);
  Result<TrafficDefaults> defaults();

 private:
  // The option, or the key of the file in its text form; nothing when neither is given.
  std::optional<std::string> find(std::string_view option, std::string_view table,
                                  std::string_view key) const;
  std::optional<std::string> find_key(std::string_view table, std::string_view key) const;
  // The message where the setting was made.
  Error blame(std::string_view option, std::string_view table, std::string_view key,
              const Error& error) const;
  Status read_sizes(Scenario& scenario);
  Status read_hardware(Scenario& scenario);
  Status apply_options(Machine& machine);
  void enlarge_buffers(Machine& machine) const;
  Status read_routing(Scenario& scenario);
  Status read_pattern(Scenario& scenario);
  Status read_seed(Scenario& scenario);

  const ScenarioRequest& request_;
  std::optional<Config> config_;
  std::string net_;
};

Status Maker::open() {
  const auto net = request_.options.find("net");
  if (net == request_.options.end())
    return Error::call("which network? Give --net with a spec (mesh:8x8) or a *.toml file");
  net_ = net->second;
  auto read = is_description(net_) ? Config::read_file(net_) : Config::read_text("", net_);
  if (!read)
    return Error::input(read.error().message()).at(read.error().file(), read.error().line());
  auto config = read->with_overrides(request_.sets);
  if (!config) return std::move(config).error();
  config_ = *std::move(config);
  return config_->only_tables(tables);
}

Result<std::shared_ptr<const Topology>> Maker::make_network() {
  if (!is_description(net_) && config_->has_table("network"))
    return config_->table("network").error_at(
        "", "[network] can be changed only in a *.toml file; put it into the spec '" + net_ + "'");
  auto made = is_description(net_)
                  ? read_topology(config_->table("network"),
                                  std::filesystem::path(net_).parent_path().string())
                  : load_topology(net_);
  if (!made && !is_description(net_) && made.error().file().empty())
    return Error::call("--net: " + made.error().message());
  if (!made) return std::move(made).error();
  if (Status connected = validate(*made); !connected) {
    // A finding when one asks about the network; here it cannot be used.
    const std::string& why = connected.error().message();
    return is_description(net_) ? config_->table("network").error_at("topology", why)
                                : Error::input(why);
  }
  return std::shared_ptr<const Topology>(std::make_shared<Topology>(*std::move(made)));
}

std::optional<std::string> Maker::find_key(std::string_view table, std::string_view key) const {
  // Text or number, whichever the file has: each kind is tried on a table of its own, because a
  // wrong kind leaves the value alone.
  const std::string none("\0", 1);
  std::string text = none;
  config_->table(table).get(key, text);  // Asks for the key even where it is absent.
  if (!config_->table(table).has(key)) return std::nullopt;
  if (text != none) return text;
  std::int64_t whole = std::numeric_limits<std::int64_t>::min();
  config_->table(table).get(key, whole);
  if (whole != std::numeric_limits<std::int64_t>::min()) return std::to_string(whole);
  double number = std::numeric_limits<double>::infinity();
  config_->table(table).get(key, number);
  return number < std::numeric_limits<double>::infinity() ? fmt::format("{}", number) : "";
}

std::optional<std::string> Maker::find(std::string_view option, std::string_view table,
                                       std::string_view key) const {
  auto in_file = find_key(table, key);
  const auto given = request_.options.find(option);
  return given != request_.options.end() ? std::optional(given->second) : in_file;
}

Error Maker::blame(std::string_view option, std::string_view table, std::string_view key,
                   const Error& error) const {
  if (request_.options.contains(option))
    return Error::call(fmt::format("--{}: {}", option == "routing" ? request_.routing_from : option,
                                   error.message()));
  if (config_->table(table).has(key)) return config_->table(table).error_at(key, error.message());
  return error;
}

// Before the rest of the hardware: buffers are as large as packets unless the file says otherwise.
Status Maker::read_sizes(Scenario& scenario) {
  ConfigTable router = config_->table("router");
  router.get("flit", scenario.machine.flit);
  Machine& machine = scenario.machine;
  if (machine.flit.count < 1)
    return router.error_at("flit", "'flit' in [router] must be at least 1 B");
  ConfigTable packet = config_->table("packet");
  packet.get("mtu", machine.mtu);
  std::string text = std::to_string(
      std::max<std::int64_t>(1, (machine.mtu.count + machine.flit.count - 1) / machine.flit.count));
  if (auto given = find("packet", "traffic", "packet")) text = *given;
  auto sizes = PacketSizes::parse(text);
  if (!sizes) return blame("packet", "traffic", "packet", sizes.error());
  scenario.sizes = *sizes;
  scenario.packet = text;
  return {};
}

Status Maker::apply_options(Machine& machine) {
  const auto option = [&](std::string_view name) -> const std::string* {
    const auto found = request_.options.find(name);
    return found == request_.options.end() ? nullptr : &found->second;
  };
  if (const std::string* text = option("vcs")) {
    const auto vcs = parse_int(*text);
    if (!vcs || *vcs < 1 || *vcs > max_vcs)
      return Error::call(
          fmt::format("--vcs: '{}' is not a number of VCs from 1 to {}", *text, max_vcs));
    machine.vcs = static_cast<int>(*vcs);
  }
  if (const std::string* text = option("buffer")) {
    const auto flits = parse_int(*text);
    const auto bytes = flits ? Result<Bytes>(machine.flit * *flits) : parse_bytes(*text);
    if (!bytes || bytes->count < 1 || (flits && *flits > 100'000'000))
      return Error::call(
          fmt::format("--buffer: '{}' is not a size; give flits (32) or bytes (4 KiB)", *text));
    machine.buffer = *bytes;
  }
  if (const std::string* text = option("arbitration")) {
    const auto parsed = parse_arbitration(*text);
    if (!parsed) return Error::call("--arbitration: " + parsed.error().message());
    machine.arbitration = *parsed;
  }
  if (const std::string* text = option("release")) {
    const auto parsed = parse_release(*text);
    if (!parsed) return Error::call("--release: " + parsed.error().message());
    machine.release = *parsed;
  }
  return {};
}

void Maker::enlarge_buffers(Machine& machine) const {
  const std::int64_t times = request_.buffers.times, over = request_.buffers.over;
  if (times == over) return;
  const auto grown = [&](std::int64_t count, std::int64_t unit) {
    const std::int64_t step = over * unit;
    return (count * times + step - 1) / step * unit;
  };
  machine.buffer = Bytes{grown(machine.buffer_size().count, machine.flit.count)};
  machine.output_buffer = Bytes{grown(machine.output_buffer.count, machine.flit.count)};
  machine.packets_per_buffer =
      static_cast<int>(std::min(grown(machine.packets_per_buffer, 1), buffer_packets_max));
}

Status Maker::read_hardware(Scenario& scenario) {
  Machine& machine = scenario.machine;
  const Bytes largest = scenario.packet_size(scenario.sizes.largest());
  machine.mtu = largest;
  if (Status s = read_machine(*config_, *scenario.topology, machine); !s) return s;
  // One message is one packet, whatever a network file gives as its usual size.
  machine.mtu = largest;
  if (Status s = apply_options(machine); !s) return s;
  if (machine.buffer.count > 0 && machine.buffer < machine.packet_max())
    return blame(
        "buffer", "router", "buffer",
        Error::input(fmt::format(
            "a buffer of {} is smaller than a packet of {} ({} flits); virtual cut-through "
            "needs room for a whole one",
            to_text(machine.buffer), to_text(machine.packet_max()), scenario.sizes.largest())));
  enlarge_buffers(scenario.machine);
  // As many of the smallest packets as there is room for; a file may say that there are fewer.
  if (!config_->table("router").has("packets_per_buffer")) {
    const Bytes smallest = scenario.packet_size(scenario.sizes.smallest()) + machine.header;
    const Bytes room = std::max(machine.buffer_size(), machine.output_buffer);
    machine.packets_per_buffer =
        static_cast<int>(std::clamp<std::int64_t>(room / smallest, 1, buffer_packets_max));
  }
  return {};
}

Status Maker::read_routing(Scenario& scenario) {
  const Topology& topology = *scenario.topology;
  scenario.routing = find("routing", "routing", "policy").value_or(default_routing(topology));
  const int needed = vcs_needed(scenario.routing, topology);
  const bool vcs_given = request_.options.contains("vcs") || config_->table("router").has("vcs");
  scenario.vcs_given = vcs_given;
  if (!vcs_given) scenario.machine.vcs = std::max(1, needed);
  auto policy = make_policy(scenario.routing, topology, scenario.machine.vcs);
  if (!policy && needed > 0 && vcs_given) return blame("vcs", "router", "vcs", policy.error());
  if (!policy) return blame("routing", "routing", "policy", policy.error());
  scenario.policy = *std::move(policy);
  return {};
}

Status Maker::read_pattern(Scenario& scenario) {
  scenario.traffic = find("pattern", "traffic", "pattern").value_or("uniform");
  scenario.injection = find("injection", "traffic", "injection").value_or("bernoulli");
  auto pattern = make_pattern(scenario.traffic, grid_of(*scenario.topology), scenario.seed);
  if (!pattern) return blame("pattern", "traffic", "pattern", pattern.error());
  scenario.pattern = *std::move(pattern);
  // At a load that every process can make: the name and the parameters are what is checked here.
  constexpr double tiny_load = 1e-12;
  if (const auto injection = Injection::make(scenario.injection, tiny_load); !injection)
    return blame("injection", "traffic", "injection", injection.error());
  return {};
}

Status Maker::read_seed(Scenario& scenario) {
  const auto text = find("seed", "traffic", "seed");
  if (!text) return {};
  const auto seed = parse_int(*text);
  if (!seed || *seed < 0)
    return blame("seed", "traffic", "seed",
                 Error::input(fmt::format("'{}' is not a seed; give a whole number", *text)));
  scenario.seed = static_cast<std::uint64_t>(*seed);
  return {};
}

Result<TrafficDefaults> Maker::defaults() {
  TrafficDefaults found;
  found.load = find_key("traffic", "load").value_or("");
  // Whoever asks for these gets their errors; here they only count as known.
  for (const std::string_view key : {"packet", "pattern", "injection", "seed"})
    static_cast<void>(find_key("traffic", key));
  ConfigTable table = config_->table("traffic");
  table.get("warmup_cycles", found.warmup_cycles);
  table.get("measure_cycles", found.measure_cycles);
  if (found.warmup_cycles < 0) return table.error_at("warmup_cycles", "must not be negative");
  if (found.measure_cycles < 0) return table.error_at("measure_cycles", "must not be negative");
  if (Status s = table.finish(); !s) return std::move(s).error();
  return found;
}

Result<Scenario> Maker::make(std::shared_ptr<const Topology> topology) {
  Scenario scenario;
  scenario.topology = std::move(topology);
  if (Status s = read_seed(scenario); !s) return std::move(s).error();
  if (Status s = read_sizes(scenario); !s) return std::move(s).error();
  if (Status s = read_hardware(scenario); !s) return std::move(s).error();
  if (Status s = read_routing(scenario); !s) return std::move(s).error();
  if (Status s = read_pattern(scenario); !s) return std::move(s).error();
  if (auto d = defaults(); !d) return std::move(d).error();
  if (Status s = config_->table("routing").finish(); !s) return std::move(s).error();
  if (Status s = check_machine(scenario.machine); !s) return std::move(s).error();
  scenario.label = fmt::format("{}, {} VC{}", scenario.routing, scenario.machine.vcs,
                               scenario.machine.vcs == 1 ? "" : "s");
  return scenario;
}

std::string network_key(const ScenarioRequest& request) {
  const auto net = request.options.find("net");
  std::string key = net == request.options.end() ? "" : net->second;
  for (const std::string& set : request.sets)
    if (trim(set).starts_with("network")) key += "\n" + set;
  return key;
}

}  // namespace

Status ScenarioRequest::set(std::string_view key, std::string_view value) {
  if (key.find('.') != std::string_view::npos) {
    sets.push_back(fmt::format("{}={}", key, value));
    return {};
  }
  if (std::find(scenario_options.begin(), scenario_options.end(), key) == scenario_options.end())
    return Error::call(
        fmt::format("--vary: unknown option '{}'{}", key, suggest(key, scenario_options)) +
        " (keys of the network file have a dot: router.vcs)");
  options.insert_or_assign(std::string(key), std::string(value));
  return {};
}

Result<Scenario> ScenarioMaker::make(const ScenarioRequest& request) {
  Maker maker(request);
  if (Status s = maker.open(); !s) return std::move(s).error();
  std::shared_ptr<const Topology>& known = networks_[network_key(request)];
  if (known == nullptr) {
    auto topology = maker.make_network();
    if (!topology) return std::move(topology).error();
    known = *topology;
  }
  return maker.make(known);
}

Result<Scenario> make_scenario(const ScenarioRequest& request) {
  return ScenarioMaker().make(request);
}

Result<TrafficDefaults> read_defaults(const ScenarioRequest& request) {
  Maker maker(request);
  if (Status s = maker.open(); !s) return std::move(s).error();
  return maker.defaults();
}

Grid grid_of(const Topology& topology) {
  const Graph& graph = topology.graph;
  Grid by_number{{static_cast<int>(graph.node_count())}, 1};
  Grid grid;
  for (const GridAxis& axis : topology.shape->axes()) grid.radix.push_back(axis.size);
  if (grid.radix.empty() || graph.node_count() % graph.router_count() != 0) return by_number;
  grid.per_point = static_cast<int>(graph.node_count() / graph.router_count());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    if (graph.router_of(NodeId(n)).index != n / static_cast<std::uint32_t>(grid.per_point))
      return by_number;
  return grid;
}

}  // namespace weft
