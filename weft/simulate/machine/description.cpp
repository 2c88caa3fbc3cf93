// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/machine/description.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/network/route/policy_plugin.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/network_file.hpp>
#include <weft/simulate/machine/profiles.hpp>
#include <weft/simulate/machine/throttles.hpp>

namespace weft {
namespace {

// [traffic] belongs to a command; all other tables describe the machine.
constexpr std::array<std::string_view, 15> known_tables = {
    "",       "network", "routing",  "router",  "news",    "link", "link.*",     "nic",
    "packet", "node",    "messages", "traffic", "storage", "flow", "flit_router"};
constexpr std::array<std::string_view, 12> machine_tables = {
    "network", "routing", "router",   "news",    "link", "nic",
    "packet",  "node",    "messages", "storage", "flow", "flit_router"};

// The name of a pipe does not tell what is in it; the command has made it readable several times.
bool is_pipe(std::string_view net) {
  return net.starts_with("/dev/") || net.starts_with("/proc/self/fd/");
}

bool is_description(const std::string& net) {
  if (!is_pipe(net)) return net.ends_with(".toml");
  const auto text = read_file(net);
  return text && !text->starts_with("weft-graph");
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The description behind `net`: a file, or the one line that a spec stands for.
Result<Config> open_words(const MachineWords& words) {
  if (is_description(words.net)) return Config::read_file(words.net);
  const auto spec = find_spec(words.net);
  if (!spec) return Error(spec.error());
  return Config::read_text("[network]\ntopology = " + toml_text(*spec) + "\n", "");
}

Error wrong_net(const MachineWords& words, const Error& error) {
  if (words.net_option.empty()) return Error::input(error.message());
  return Error::call(words.net_option + ": " + error.message());
}

// Whoever broke cables by --fail has typed no key.
Error of_fail(Error error) {
  constexpr std::string_view key = "option 'network.down+=";
  const std::string& text = error.message();
  const std::size_t end = text.find("': ");
  if (!text.starts_with(key) || end == std::string::npos) return error;
  return Error::call("--fail: " + text.substr(end + 3));
}

// Options are keys by another name, so that they count wherever keys do.
std::vector<std::string> all_sets(const MachineWords& words) {
  std::vector<std::string> sets = words.sets;
  if (!words.profile.empty()) sets.push_back("profile=" + toml_text(words.profile));
  if (!words.routing.empty()) sets.push_back("routing.policy=" + toml_text(words.routing));
  return sets;
}

Result<std::string> choose_profile(const MachineWords& words, const Config& config) {
  ConfigTable top = config.table("");
  std::string name(usual_profile);
  top.get("profile", name);
  if (Status s = top.finish(); !s) return std::move(s).error();
  const auto found = find_profile(name);
  if (found) return name;
  if (!words.profile.empty()) return Error::call("--profile: " + found.error().message());
  return top.error_at("profile", found.error().message());
}

std::string line_of(const ConfigReading& reading) {
  if (reading.value.empty() || (reading.value == "\"\"" && !reading.given))
    return fmt::format("# {} is not given\n", reading.key);
  const std::string line = fmt::format("{} = {}", reading.key, reading.value);
  return reading.given ? line + "\n" : fmt::format("{:<36} # default\n", line);
}

// All that was read, table by table.
std::string to_text(const Config& config, const std::string& profile) {
  const std::vector<ConfigReading> readings = config.readings();
  std::string out = "profile = " + toml_text(profile) + "\n";
  const auto add_table = [&](std::string_view name) {
    std::string lines;
    for (const ConfigReading& reading : readings)
      if (reading.table == name) lines += line_of(reading);
    if (!lines.empty()) out += fmt::format("\n[{}]\n{}", name, lines);
  };
  for (const std::string_view table : machine_tables) {
    add_table(table);
    for (const std::string& inner : config.subtables(table)) add_table(Config::path(table, inner));
  }
  return out;
}

}  // namespace

MachineReader::MachineReader(MachineWords words, Config config, std::string profile)
    : words_(std::move(words)), config_(std::move(config)), profile_(std::move(profile)) {}

bool MachineReader::is_file() const {
  return is_description(words_.net);
}

std::string MachineReader::folder() const {
  return is_file() && !is_pipe(words_.net)
             ? std::filesystem::path(words_.net).parent_path().string()
             : std::string();
}

bool MachineReader::is_of_spec(const Error& error) const {
  return !is_file() && error.file().empty() && error.broken() == Broken::input;
}

Error MachineReader::placed(Error error) const {
  if (!is_of_spec(error)) return error;
  return Error::input(error.message()).at(words_.net, 0);
}

Result<MachineReader> MachineReader::open(const MachineWords& words) {
  if (words.net.empty())
    return Error::call("which network? Give --net with a spec (torus:8x8x8) or a *.toml file");
  auto read = open_words(words);
  if (!read && !is_description(words.net)) return wrong_net(words, read.error());
  if (!read)
    return Error::input(read.error().message()).at(read.error().file(), read.error().line());
  auto config = read->with_overrides(all_sets(words));
  if (!config) return std::move(config).error();
  if (Status s = config->only_tables(known_tables); !s) return std::move(s).error();
  auto profile = choose_profile(words, *config);
  if (!profile) return std::move(profile).error();
  return MachineReader(words, *std::move(config), *std::move(profile));
}

Result<Topology> MachineReader::make_network() const {
  const auto cards = read_card_count(config_, 1);
  if (!cards) return placed(cards.error());
  auto made = read_topology(config_.table("network"), folder(), *cards);
  if (!made && is_of_spec(made.error())) return wrong_net(words_, made.error());
  if (!made) return of_fail(std::move(made).error());
  if (Status s = check_cards(*made); !s) return std::move(s).error();
  // A table that names no class of cables may name the cables between two routers.
  for (const std::string& name : config_.subtables("link")) {
    const std::vector<std::string>& classes = made->graph.link_classes();
    if (name.find('-') == std::string::npos ||
        std::find(classes.begin(), classes.end(), name) != classes.end())
      continue;
    made = name_cables(*std::move(made), name);
    if (!made)
      return config_.table(Config::path("link", name)).error_at("", made.error().message());
  }
  return made;
}

// Planes and rails say how many cards a node has.
Status MachineReader::check_cards(const Topology& topology) const {
  if (topology.shape->planes() == nullptr) return {};
  const auto given = read_card_count(config_, topology.cards);
  if (!given || *given == topology.cards) return {};
  const char* const key = card_count_key(config_);
  return placed(config_.table("node").error_at(
      key, fmt::format("a node has {} cards, but {} has {} for each; leave {} out, or change the "
                       "planes or rails of the network",
                       *given, topology.name, topology.cards, key)));
}

Status MachineReader::check_connected(const Topology& topology) const {
  Status connected = validate(topology);
  if (connected) return {};
  return placed(config_.table("network").error_at("topology", connected.error().message()));
}

Result<MachineDescription> MachineReader::read(std::shared_ptr<const Topology> topology) const {
  MachineDescription machine;
  machine.profile = profile_;
  machine.topology = std::move(topology);
  ProfileDefaults defaults = (*find_profile(profile_))->defaults();
  machine.hardware = std::move(defaults.hardware);
  machine.node = std::move(defaults.node);
  machine.messages = defaults.messages;
  machine.node.rails = machine.topology->cards;
  // The network was made from these, perhaps for another reader; here they count as read.
  if (const auto words = read_network_words(config_.table("network")); !words)
    return placed(words.error());
  ConfigTable routing = config_.table("routing");
  ConfigTable router = config_.table("router");
  machine.vcs_given = router.has("vcs");
  int vcs = max_vcs;  // A wrong value is told by read_hardware().
  router.get("vcs", vcs);
  machine.routing = default_routing(*machine.topology, vcs);
  machine.routing_given = routing.has("policy");
  routing.get("policy", machine.routing);
  // What an option says is in no file.
  if (!routing.error_at("policy", "").file().empty())
    machine.routing = with_path_from(machine.routing, folder());
  if (Status s = routing.finish(); !s) return placed(std::move(s).error());
  if (!machine.vcs_given)
    machine.hardware.vcs = std::max(1, vcs_usual(machine.routing, *machine.topology));
  for (const Status& read : {
           read_hardware(config_, *machine.topology, machine.hardware,
                         defaults.follows_links ? BufferRule::hold_loop : BufferRule::as_set),
           read_node(config_, machine.node,
                     defaults.follows_links ? machine.hardware.node_link.rate : Rate()),
           mp::read_options(config_, machine.messages),
       }) {
    if (!read) return placed(read.error());
  }
  // A machine without this table has no servers, and its text does not speak of any.
  if (config_.has_table("storage")) {
    if (Status s = read_storage(config_, machine.nodes(), machine.storage); !s)
      return placed(std::move(s).error());
  }
  if (config_.has_table("flow")) {
    if (Status s = read_flow_model(config_, machine.flow); !s) return placed(std::move(s).error());
  }
  if (config_.has_table("flit_router")) {
    if (Status s = read_flit_model(config_, machine.flit); !s) return placed(std::move(s).error());
  }
  machine.text = to_text(config_, profile_);
  machine.warnings = find_throttles(config_, machine);
  return machine;
}

Status MachineReader::check(const MachineDescription& machine) const {
  if (Status s = check_hardware_in(config_, machine.hardware); !s)
    return placed(std::move(s).error());
  const std::uint32_t ends = machine.topology->graph.node_count();
  if (ends % static_cast<std::uint32_t>(machine.node.rails) == 0) return {};
  const std::string_view word = card_count_key(config_);
  return placed(config_.table("node").error_at(
      word, fmt::format("the network's {} ends are no multiple of the {}", ends,
                        word == "rails" ? "rails" : "cards of a node")));
}

Result<std::unique_ptr<Policy>> MachineReader::make_policy(
    const MachineDescription& machine) const {
  auto policy = weft::make_policy(machine.routing, *machine.topology, machine.hardware.vcs);
  if (policy) return policy;
  const std::string& why = policy.error().message();
  const bool fits = vcs_needed(machine.routing, *machine.topology) > 0;
  if (fits && machine.vcs_given) return placed(config_.table("router").error_at("vcs", why));
  if (!words_.routing.empty()) return Error::call(words_.routing_option + ": " + why);
  return placed(config_.table("routing").error_at("policy", why));
}

Bytes MachineReader::flit() const {
  ConfigTable router = config_.table("router");
  Bytes flit = (*find_profile(profile_))->defaults().hardware.flit;
  const Bytes usual = flit;
  router.get("flit", flit);
  // A wrong value is reported where the table is read.
  return flit.count < 1 ? usual : flit;
}

Result<MachineDescription> MachineReader::read_all() const {
  auto topology = make_network();
  if (!topology) return std::move(topology).error();
  if (Status s = check_connected(*topology); !s) return std::move(s).error();
  auto machine = read(std::make_shared<const Topology>(*std::move(topology)));
  if (!machine) return machine;
  if (Status s = check(*machine); !s) return std::move(s).error();
  return machine;
}

Result<MachineDescription> read_machine(const MachineWords& words) {
  const auto reader = MachineReader::open(words);
  if (!reader) return Error(reader.error());
  return reader->read_all();
}

}  // namespace weft
