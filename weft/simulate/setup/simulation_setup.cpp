// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>

#include <weft/message/conn/request.hpp>
#include <weft/network/topo/random_map.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

std::uint32_t slots_per_node(const SimulationOptions& options, const MachineDescription& machine) {
  if (options.ranks_per_node > 0) return options.ranks_per_node;
  const auto cores = static_cast<std::uint32_t>(machine.node.cores);
  if (cores == 0) return 1;
  const std::uint32_t sets = std::max(cores / std::max(options.cores_per_rank, 1u), 1u);
  return std::max(sets, (options.ranks + machine.nodes() - 1) / machine.nodes());
}

std::uint32_t cores_told(const SimulationOptions& options, const SimulationSetup& setup) {
  if (options.cores_per_rank > 0) return options.cores_per_rank;
  const auto cores = static_cast<std::uint32_t>(setup.machine.node.cores);
  return std::max(cores / slots_per_node(options, setup.machine), 1u);
}

namespace {

// Where cores are described, there are no others.
Status check_cores(const SimulationOptions& options, const SimulationSetup& setup) {
  const auto cores = static_cast<std::uint32_t>(setup.machine.node.cores);
  const std::uint64_t wanted =
      std::uint64_t{options.cores_per_rank} * slots_per_node(options, setup.machine);
  if (options.cores_per_rank == 0 || cores == 0 || wanted <= cores) return {};
  return Error::call("--cores-per-rank: " + std::to_string(slots_per_node(options, setup.machine)) +
                     " ranks of a node with " + std::to_string(options.cores_per_rank) +
                     " cores each need " + std::to_string(wanted) + ", the description gives " +
                     std::to_string(cores) +
                     " (node.cores); give fewer cores, or fewer ranks "
                     "per node (--ranks-per-node)");
}

Status place(const SimulationOptions& options, SimulationSetup& setup) {
  const Placement::Limits limits{setup.machine.nodes(), slots_per_node(options, setup.machine)};
  const std::uint64_t places = std::uint64_t{limits.nodes} * limits.ranks_per_node;
  const std::uint64_t ranks = options.ranks == 0 ? places : options.ranks;
  if (ranks > 16'000'000) return Error::call("-n: more than 16 million ranks");
  const auto count = static_cast<std::uint32_t>(ranks);
  const auto seed = random_map_seed(options.map);
  if (!seed) return seed.error();
  auto placed = options.map.empty() ? Placement::block(count, limits)
                : seed->has_value()
                    ? Placement::random(count, limits, **seed)
                    : Placement::read_file(options.map, count, limits, *setup.machine.topology);
  if (!placed) return std::move(placed).error();
  setup.placement = std::make_unique<Placement>(*std::move(placed));
  return {};
}

// Passing a frame on costs a relay what a call costs.
Status lay_out_connections(const SimulationOptions& options, SimulationSetup& setup) {
  if (options.connections.empty()) return {};
  const auto wrong = [](const Error& error) {
    return error.file().empty() ? Error::call("--connections: " + error.message()) : error;
  };
  const auto request = conn::parse_request(options.connections);
  if (!request) return wrong(request.error());
  const std::uint32_t ranks = setup.placement->ranks();
  std::vector<std::uint32_t> groups;
  if (request->groups_file.empty()) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t end =
          setup.placement->node(RankId(r)) * static_cast<std::uint32_t>(setup.machine.node.rails);
      groups.push_back(setup.machine.topology->graph.router_of(NodeId(end)).index);
    }
    groups = conn::groups_of_switches(groups);
  } else {
    auto read = conn::read_groups(request->groups_file, ranks);
    if (!read) return wrong(read.error());
    groups = *std::move(read);
  }
  auto layout = conn::lay_out(*request, groups, setup.connections);
  if (!layout) return wrong(layout.error());
  setup.layout = std::make_shared<const conn::Layout>(*std::move(layout));
  setup.connections.seed = options.seed;
  setup.connections.relay_work = setup.machine.node.call_overhead;
  return {};
}

// What the chosen model does not show.
Status choose_model(const SimulationOptions& options, SimulationSetup& setup) {
  const auto model = parse_fidelity(options.model);
  if (!model) return Error::call("--model: " + model.error().message());
  setup.model = *model;
  if (*model == Fidelity::flow && !options.watched.empty())
    return Error::call("--watch: flows stand in no buffers; watch routers with --model packet");
  if (*model == Fidelity::flit && !options.watched.empty())
    return Error::call("--watch: shows whole packets in buffers; use it with --model packet");
  if (*model == Fidelity::flow && !setup.machine.flow.calibrated) {
    setup.machine.warnings.push_back(
        "flows are not fitted to the packets of this network, so messages that meet on their way "
        "may be too fast: weft net NETWORK --calibrate gives flow.merge_efficiency");
  }
  return {};
}

Status find_watched(const SimulationOptions& options, SimulationSetup& setup) {
  for (std::string name : options.watched) {
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, number).ptr == end) {
      if (number >= setup.machine.topology->graph.router_count())
        return Error::call("--watch: there is no router " + name);
      setup.watched.push_back(RouterId(number));
      continue;
    }
    if (name.find(',') != std::string::npos && name.front() != '(') name.insert(0, "(").append(")");
    auto router = find_router(*setup.machine.topology, name);
    if (!router) return Error::call("--watch: " + router.error().message());
    setup.watched.push_back(*router);
  }
  return {};
}

}  // namespace

Result<SimulationSetup> read_setup(const SimulationOptions& options) {
  const auto reader = MachineReader::open(options.machine);
  if (!reader) return Error(reader.error());
  auto machine = reader->read_all();
  if (!machine) return std::move(machine).error();
  SimulationSetup setup;
  setup.machine = *std::move(machine);
  auto policy = reader->make_policy(setup.machine);
  if (!policy) return std::move(policy).error();
  setup.policy = *std::move(policy);
  if (Status chosen = choose_model(options, setup); !chosen) return std::move(chosen).error();
  if (Status enough = check_cores(options, setup); !enough) return std::move(enough).error();
  if (Status placed = place(options, setup); !placed) return std::move(placed).error();
  if (Status laid = lay_out_connections(options, setup); !laid) return std::move(laid).error();
  if (Status found = find_watched(options, setup); !found) return std::move(found).error();
  return setup;
}

}  // namespace weft
