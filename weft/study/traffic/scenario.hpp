// SPDX-License-Identifier: Apache-2.0
// A network with its routers, routing and traffic, complete but for the load: what one curve
// belongs to. Made from a network file or spec and options; errors name the file and line, or the
// option.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/simulate/router/hardware.hpp>
#include <weft/workload/patterns/packet_sizes.hpp>
#include <weft/workload/patterns/pattern.hpp>

namespace weft {

// A scenario's place in a comparison of routing policies.
struct Compared {
  std::size_t block = 0;    // Those of a block differ in routing, VCs and buffers only.
  std::string combination;  // What variations chose for the block; may be empty.
  std::string label;        // Within the block.
  std::string basis;        // What makes it comparable: own, vcs or buffers.
};

struct Scenario {
  std::string label;  // Tells it from its companions.
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const Pattern> pattern;
  NetworkHardware hardware;
  NetworkModel model;
  std::string profile;       // The machine's profile,
  std::string machine_text;  // and its description as it was read: MachineDescription::text.
  std::vector<std::string> warnings;  // What holds links back.
  PacketSizes sizes = PacketSizes::fixed(1);
  std::string routing, traffic, packet, injection = "bernoulli";  // As they were asked for.
  std::uint64_t seed = 1;
  bool vcs_given = false;  // Not: as many as the routing needs.
  std::optional<Compared> compared;

  // The time of one flit on a cable.
  Duration cycle() const { return serialise(hardware.flit, hardware.link.rate); }
  // Ends of the network: where nodes have several cards, these.
  std::uint32_t nodes() const { return topology->graph.node_count(); }
  Bytes packet_size(int flits) const { return hardware.flit * flits; }
};

// What a network file says about the experiment itself, in [traffic]; the command line goes first.
struct TrafficDefaults {
  std::string load;
  std::int64_t warmup_cycles = 0, measure_cycles = 0;
};

// The options that a scenario is made from; also what --vary may name without a dot.
inline constexpr std::array<std::string_view, 12> scenario_options = {
    "net",     "profile",   "routing",     "vcs",     "buffer", "packet",
    "pattern", "injection", "arbitration", "release", "seed",   "model"};

struct ScenarioRequest {
  std::map<std::string, std::string, std::less<>> options;  // Those given, by name.
  std::vector<std::string> sets;                            // "router.vcs=4", over the file.
  std::string_view routing_from = "routing";  // The option that named the routing, for messages.
  // All buffers grow so, rounded up to whole flits and packets.
  struct {
    int times = 1, over = 1;
  } buffers;

  // An option by its name or a table.key; the error names the nearest.
  Status set(std::string_view key, std::string_view value);
};

// Scenarios of one maker that differ elsewhere share their network.
class ScenarioMaker {
 public:
  Result<Scenario> make(const ScenarioRequest& request);

 private:
  std::map<std::string, std::shared_ptr<const Topology>> networks_;  // By all that names them.
};
Result<Scenario> make_scenario(const ScenarioRequest& request);
// Defaults in the file named by the request; empty for a spec.
Result<TrafficDefaults> read_defaults(const ScenarioRequest& request);

// The nodes as patterns see them: by coordinates where every router of a grid has the
// same number of nodes, by number elsewhere.
Grid grid_of(const Topology& topology);

}  // namespace weft
