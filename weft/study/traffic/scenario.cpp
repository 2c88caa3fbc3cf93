// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/scenario.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weft/base/config.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/simulate/machine/description.hpp>
#include <weft/simulate/machine/throttles.hpp>
#include <weft/study/traffic/card_pattern.hpp>
#include <weft/workload/patterns/injection.hpp>

namespace weft {
namespace {

constexpr std::int64_t buffer_packets_max = 4096;

// The options that stand for a key of the description, in their text form.
struct KeyOption {
  std::string_view option, key;
  Status (*check)(const std::string& text);
};

Status check_vcs(const std::string& text) {
  const auto vcs = parse_int(text);
  if (vcs && *vcs >= 1 && *vcs <= max_vcs) return {};
  return Error::call(fmt::format("'{}' is not a number of VCs from 1 to {}", text, max_vcs));
}

template <auto parse>
Status check_word(const std::string& text) {
  const auto parsed = parse(text);
  return parsed ? Status() : Status(parsed.error());
}

constexpr KeyOption key_options[] = {
    {"vcs", "router.vcs", &check_vcs},
    {"arbitration", "router.arbitration", &check_word<&parse_arbitration>},
    {"release", "router.release", &check_word<&parse_release>},
};

// Makes one scenario. Keeps where each setting came from, so that errors can say so.
class Maker {
 public:
  explicit Maker(const ScenarioRequest& request) : request_(request) {}

  Status open();
  Result<std::shared_ptr<const Topology>> make_network();
  Result<Scenario> make(std::shared_ptr<const Topology> topology);
  Result<TrafficDefaults> defaults();

 private:
  const std::string* option(std::string_view name) const;
  const Config& config() const { return reader_->config(); }
  Result<MachineWords> words() const;
  Result<Bytes> buffer_size(const std::string& text) const;
  // The option, or the key of the file in its text form; nothing when neither is given.
  std::optional<std::string> find(std::string_view option, std::string_view table,
                                  std::string_view key) const;
  std::optional<std::string> find_key(std::string_view table, std::string_view key) const;
  // The message where the setting was made.
  Error blame(std::string_view option, std::string_view table, std::string_view key,
              const Error& error) const;
  Status read_sizes(Scenario& scenario);
  Status fit_hardware(MachineDescription& machine, Scenario& scenario);
  void enlarge_buffers(NetworkHardware& hardware) const;
  Status make_policy(MachineDescription& machine, Scenario& scenario);
  Status read_pattern(Scenario& scenario);
  Status read_seed(Scenario& scenario);

  const ScenarioRequest& request_;
  std::optional<MachineReader> reader_;
};

const std::string* Maker::option(std::string_view name) const {
  const auto found = request_.options.find(name);
  return found == request_.options.end() ? nullptr : &found->second;
}

// All but the buffer's size, which may count in flits.
Result<MachineWords> Maker::words() const {
  MachineWords words;
  if (const std::string* text = option("net")) words.net = *text;
  if (const std::string* text = option("profile")) words.profile = *text;
  if (const std::string* text = option("routing")) words.routing = *text;
  words.routing_option = fmt::format("--{}", request_.routing_from);
  words.sets = request_.sets;
  for (const KeyOption& one : key_options) {
    const std::string* text = option(one.option);
    if (text == nullptr) continue;
    if (const Status s = one.check(*text); !s)
      return Error::call(fmt::format("--{}: {}", one.option, s.error().message()));
    words.sets.push_back(fmt::format("{}={}", one.key, *text));
  }
  return words;
}

Result<Bytes> Maker::buffer_size(const std::string& text) const {
  const auto flits = parse_int(text);
  auto bytes = flits ? Result<Bytes>(reader_->flit() * *flits) : parse_bytes(text);
  if (!bytes || bytes->count < 1 || (flits && *flits > 100'000'000))
    return Error::call(
        fmt::format("--buffer: '{}' is not a size; give flits (32) or bytes (4 KiB)", text));
  return bytes;
}

Status Maker::open() {
  auto words = this->words();
  if (!words) return std::move(words).error();
  auto reader = MachineReader::open(*words);
  if (!reader) return std::move(reader).error();
  reader_ = *std::move(reader);
  const std::string* const buffer = option("buffer");
  if (buffer == nullptr) return {};
  const auto size = buffer_size(*buffer);
  if (!size) return Error(size.error());
  words->sets.push_back(fmt::format("router.buffer=\"{}\"", to_text(*size)));
  reader = MachineReader::open(*words);
  if (!reader) return std::move(reader).error();
  reader_ = *std::move(reader);
  return {};
}

Result<std::shared_ptr<const Topology>> Maker::make_network() {
  auto made = reader_->make_network();
  if (!made) return std::move(made).error();
  // A finding when one asks about the network; here it cannot be used.
  if (Status s = reader_->check_connected(*made); !s) return std::move(s).error();
  return std::shared_ptr<const Topology>(std::make_shared<Topology>(*std::move(made)));
}

std::optional<std::string> Maker::find_key(std::string_view table, std::string_view key) const {
  // Text or number, whichever the file has: each kind is tried on a table of its own, because a
  // wrong kind leaves the value alone.
  const std::string none("\0", 1);
  std::string text = none;
  config().table(table).get(key, text);  // Asks for the key even where it is absent.
  if (!config().table(table).has(key)) return std::nullopt;
  if (text != none) return text;
  std::int64_t whole = std::numeric_limits<std::int64_t>::min();
  config().table(table).get(key, whole);
  if (whole != std::numeric_limits<std::int64_t>::min()) return std::to_string(whole);
  double number = std::numeric_limits<double>::infinity();
  config().table(table).get(key, number);
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
  if (config().table(table).has(key)) return config().table(table).error_at(key, error.message());
  return error;
}

// What a file gives as its usual packet is a packet here, in whole flits.
Status Maker::read_sizes(Scenario& scenario) {
  const NetworkHardware& hardware = scenario.hardware;
  std::string text = std::to_string(std::max<std::int64_t>(
      1, (hardware.mtu.count + hardware.flit.count - 1) / hardware.flit.count));
  if (auto given = find("packet", "traffic", "packet")) text = *given;
  auto sizes = PacketSizes::parse(text);
  if (!sizes) return blame("packet", "traffic", "packet", sizes.error());
  scenario.sizes = *sizes;
  scenario.packet = text;
  return {};
}

void Maker::enlarge_buffers(NetworkHardware& hardware) const {
  const std::int64_t times = request_.buffers.times, over = request_.buffers.over;
  if (times == over) return;
  const auto grown = [&](std::int64_t count, std::int64_t unit) {
    const std::int64_t step = over * unit;
    return (count * times + step - 1) / step * unit;
  };
  hardware.buffer = Bytes{grown(hardware.buffer_size().count, hardware.flit.count)};
  hardware.output_buffer = Bytes{grown(hardware.output_buffer.count, hardware.flit.count)};
  hardware.packets_per_buffer =
      static_cast<int>(std::min(grown(hardware.packets_per_buffer, 1), buffer_packets_max));
}

// One message is one packet: the packets of the experiment, on the machine's buffers.
Status Maker::fit_hardware(MachineDescription& machine, Scenario& scenario) {
  NetworkHardware& hardware = machine.hardware;
  hardware.mtu = scenario.packet_size(scenario.sizes.largest());
  if (option("buffer") != nullptr && hardware.buffer < hardware.packet_max())
    return Error::call(fmt::format(
        "--buffer: a buffer of {} is smaller than a packet of {} ({} flits); virtual cut-through "
        "needs room for a whole one",
        to_text(hardware.buffer), to_text(hardware.packet_max()), scenario.sizes.largest()));
  if (Status s = reader_->check(machine); !s) return s;
  enlarge_buffers(hardware);
  // As many of the smallest packets as there is room for; a file may say that there are fewer.
  if (!config().table("router").has("packets_per_buffer")) {
    const Bytes smallest = scenario.packet_size(scenario.sizes.smallest()) + hardware.header;
    const Bytes room = std::max(hardware.buffer_size(), hardware.output_buffer);
    hardware.packets_per_buffer =
        static_cast<int>(std::clamp<std::int64_t>(room / smallest, 1, buffer_packets_max));
  }
  scenario.hardware = hardware;
  return reader_->check(machine);
}

Status Maker::make_policy(MachineDescription& machine, Scenario& scenario) {
  auto policy = reader_->make_policy(machine);
  if (policy) {
    scenario.policy = *std::move(policy);
    return {};
  }
  const bool fits = vcs_needed(machine.routing, *machine.topology) > 0;
  if (!fits || option("vcs") == nullptr) return std::move(policy).error();
  const auto own = weft::make_policy(machine.routing, *machine.topology, machine.hardware.vcs);
  return blame("vcs", "router", "vcs", own.error());
}

Status Maker::read_pattern(Scenario& scenario) {
  scenario.traffic = find("pattern", "traffic", "pattern").value_or("uniform");
  scenario.injection = find("injection", "traffic", "injection").value_or("bernoulli");
  auto pattern = make_card_pattern(scenario.traffic, *scenario.topology, scenario.seed);
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
  // Errors in these are reported where they are used; here they only count as known.
  for (const std::string_view key : {"packet", "pattern", "injection", "seed"})
    static_cast<void>(find_key("traffic", key));
  ConfigTable table = config().table("traffic");
  table.get("warmup_cycles", found.warmup_cycles);
  table.get("measure_cycles", found.measure_cycles);
  if (found.warmup_cycles < 0) return table.error_at("warmup_cycles", "must not be negative");
  if (found.measure_cycles < 0) return table.error_at("measure_cycles", "must not be negative");
  if (Status s = table.finish(); !s) return std::move(s).error();
  return found;
}

Result<Scenario> Maker::make(std::shared_ptr<const Topology> topology) {
  Scenario scenario;
  if (Status s = read_seed(scenario); !s) return std::move(s).error();
  auto machine = reader_->read(std::move(topology));
  if (!machine) return std::move(machine).error();
  scenario.topology = machine->topology;
  scenario.profile = machine->profile;
  scenario.machine_text = machine->text;
  scenario.routing = machine->routing;
  scenario.vcs_given = machine->vcs_given;
  scenario.hardware = machine->hardware;
  scenario.model.flow = machine->flow;
  scenario.model.flit = machine->flit;
  if (const std::string* text = option("model")) {
    const auto fidelity = parse_fidelity(*text);
    if (!fidelity) return Error::call("--model: " + fidelity.error().message());
    scenario.model.fidelity = *fidelity;
  }
  if (Status s = read_sizes(scenario); !s) return std::move(s).error();
  if (Status s = fit_hardware(*machine, scenario); !s) return std::move(s).error();
  scenario.warnings = find_network_throttles(config(), *machine);
  if (Status s = make_policy(*machine, scenario); !s) return std::move(s).error();
  if (Status s = read_pattern(scenario); !s) return std::move(s).error();
  if (auto d = defaults(); !d) return std::move(d).error();
  scenario.label = fmt::format("{}, {} VC{}", scenario.routing, scenario.hardware.vcs,
                               scenario.hardware.vcs == 1 ? "" : "s");
  return scenario;
}

std::string network_key(const ScenarioRequest& request) {
  const auto net = request.options.find("net");
  std::string key = net == request.options.end() ? "" : net->second;
  for (const std::string& set : request.sets)
    if (trim(set).starts_with("network") || trim(set).starts_with("node")) key += "\n" + set;
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
  // The nodes of several copies stand as they do in one.
  const Planes* const planes = topology.shape->planes();
  if (planes != nullptr && planes->count == topology.cards) return grid_of(plane_of(topology, 0));
  const Graph& graph = topology.graph;
  const std::uint32_t nodes = topology.computers();
  const auto cards = static_cast<std::uint32_t>(topology.cards);
  Grid by_number{{static_cast<int>(nodes)}, 1};
  Grid grid;
  for (const GridAxis& axis : topology.shape->axes()) grid.radix.push_back(axis.size);
  if (grid.radix.empty() || nodes % graph.router_count() != 0) return by_number;
  grid.per_point = static_cast<int>(nodes / graph.router_count());
  for (std::uint32_t n = 0; n < nodes; ++n)
    if (graph.router_of(NodeId(n * cards)).index != n / static_cast<std::uint32_t>(grid.per_point))
      return by_number;
  return grid;
}

}  // namespace weft
