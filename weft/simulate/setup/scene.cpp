// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include <weft/base/config.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/network/topo/network_file.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

namespace {

constexpr std::array<std::string_view, 11> tables = {"network", "router", "link",   "link.*",
                                                     "nic",     "packet", "node",   "messages",
                                                     "routing", "news",   "traffic"};

Result<Config> open(const Plan& plan, bool is_file) {
  if (plan.net.empty())
    return Error::call("which network? Give --net with a spec (torus:8x8x8) or a *.toml file");
  auto read = is_file ? Config::read_file(plan.net) : Config::read_text("", plan.net);
  if (!read)
    return Error::input(read.error().message()).at(read.error().file(), read.error().line());
  auto config = read->with_overrides(plan.sets);
  if (!config) return std::move(config).error();
  if (Status known = config->only_tables(tables); !known) return std::move(known).error();
  return config;
}

Result<Topology> make_network(const Plan& plan, const Config& config, bool is_file) {
  if (!is_file && config.has_table("network"))
    return Error::call("--set network.…: put it into the spec '" + plan.net + "'");
  auto made = is_file ? read_topology(config.table("network"),
                                      std::filesystem::path(plan.net).parent_path().string())
                      : load_topology(plan.net);
  if (!made && !is_file && made.error().file().empty())
    return Error::call("--net: " + made.error().message());
  if (!made) return std::move(made).error();
  if (Status connected = validate(*made); !connected)
    return Error::input(connected.error().message()).at(plan.net, 0);
  return made;
}

Status read_routing(const Plan& plan, const Config& config, Scene& scene) {
  ConfigTable table = config.table("routing");
  std::string in_file;
  table.get("policy", in_file);
  if (Status status = table.finish(); !status) return status;
  scene.routing = !plan.routing.empty() ? plan.routing
                  : !in_file.empty()    ? in_file
                                        : default_routing(*scene.topology);
  if (!config.table("router").has("vcs"))
    scene.machine.vcs = std::max(1, vcs_needed(scene.routing, *scene.topology));
  auto policy = make_policy(scene.routing, *scene.topology, scene.machine.vcs);
  if (!policy) {
    return plan.routing.empty() ? config.table("routing").error_at("policy", policy.error().text())
                                : Error::call("--routing: " + policy.error().text());
  }
  scene.policy = std::move(*policy);
  return {};
}

Status place(const Plan& plan, Scene& scene) {
  const Placement::Limits limits{scene.nodes(), plan.ranks_per_node};
  const std::uint64_t places = std::uint64_t{limits.nodes} * limits.ranks_per_node;
  const std::uint64_t ranks = plan.ranks == 0 ? places : plan.ranks;
  if (ranks > 16'000'000) return Error::call("-n: more than 16 million ranks");
  const auto count = static_cast<std::uint32_t>(ranks);
  auto placed = plan.map.empty() ? Placement::block(count, limits)
                                 : Placement::read_file(plan.map, count, limits, *scene.topology);
  if (!placed) return std::move(placed).error();
  scene.placement = std::make_unique<Placement>(*std::move(placed));
  return {};
}

// Passing a frame on costs a relay what a call costs.
Status lay_out_connections(const Plan& plan, Scene& scene) {
  if (plan.connections.empty()) return {};
  const auto wrong = [](const Error& error) {
    return error.file().empty() ? Error::call("--connections: " + error.message()) : error;
  };
  const auto request = conn::parse_request(plan.connections);
  if (!request) return wrong(request.error());
  const std::uint32_t ranks = scene.placement->ranks();
  std::vector<std::uint32_t> groups;
  if (request->groups_file.empty()) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t end =
          scene.placement->node(RankId(r)) * static_cast<std::uint32_t>(scene.node.rails);
      groups.push_back(scene.topology->graph.router_of(NodeId(end)).index);
    }
    groups = conn::groups_of_switches(groups);
  } else {
    auto read = conn::read_groups(request->groups_file, ranks);
    if (!read) return wrong(read.error());
    groups = *std::move(read);
  }
  auto layout = conn::lay_out(*request, groups, scene.connections);
  if (!layout) return wrong(layout.error());
  scene.layout = std::make_shared<const conn::Layout>(*std::move(layout));
  scene.connections.seed = plan.seed;
  scene.connections.relay_work = scene.node.call_overhead;
  return {};
}

Status find_watched(const Plan& plan, Scene& scene) {
  for (std::string name : plan.watched) {
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, number).ptr == end) {
      if (number >= scene.topology->graph.router_count())
        return Error::call("--watch: there is no router " + name);
      scene.watched.push_back(RouterId(number));
      continue;
    }
    if (name.find(',') != std::string::npos && name.front() != '(') name.insert(0, "(").append(")");
    auto router = find_router(*scene.topology, name);
    if (!router) return Error::call("--watch: " + router.error().message());
    scene.watched.push_back(*router);
  }
  return {};
}

}  // namespace

Machine paper_machine() {
  Machine m;
  m.buffer = Bytes{4096};
  m.route = m.vc_alloc = m.switch_alloc = Duration::ns(2);
  m.switch_delay = Duration::ns(140);
  m.lookahead = true;
  m.link = {Rate::gbyte_per_s(8), Duration::ns(100), Duration::ns(100)};
  m.mtu = Bytes{256};
  return m;
}

Result<Scene> read_scene(const Plan& plan) {
  const bool is_file = plan.net.ends_with(".toml");
  auto config = open(plan, is_file);
  if (!config) return std::move(config).error();
  auto topology = make_network(plan, *config, is_file);
  if (!topology) return std::move(topology).error();
  Scene scene;
  scene.topology = std::make_shared<const Topology>(*std::move(topology));
  if (!is_file) scene.machine = paper_machine();
  for (const auto& read : {
           read_machine(*config, *scene.topology, scene.machine),
           read_node(*config, scene.node),
           mp::read_options(*config, scene.messages),
           read_routing(plan, *config, scene),
           check_machine(scene.machine),
       }) {
    if (!read) return Error(read.error());
  }
  if (scene.topology->graph.node_count() % static_cast<std::uint32_t>(scene.node.rails) != 0) {
    return config->table("node").error_at(
        "rails", "the network's " + std::to_string(scene.topology->graph.node_count()) +
                     " ends are no multiple of the rails");
  }
  if (Status placed = place(plan, scene); !placed) return std::move(placed).error();
  if (Status laid = lay_out_connections(plan, scene); !laid) return std::move(laid).error();
  if (Status found = find_watched(plan, scene); !found) return std::move(found).error();
  return scene;
}

}  // namespace weft
