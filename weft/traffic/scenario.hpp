// SPDX-License-Identifier: Apache-2.0
// A network with its routers, routing and traffic, complete but for the load: what one curve
// belongs to. Made from a network file or spec and options; errors name the file and line, or the
// option.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/comm/packet_sizes.hpp>
#include <weft/comm/pattern.hpp>
#include <weft/route/policy.hpp>
#include <weft/sim/machine.hpp>
#include <weft/topo/topology.hpp>

namespace weft {

struct Scenario {
  std::string label;  // Tells it from its companions.
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const Pattern> pattern;
  Machine machine;
  PacketSizes sizes = PacketSizes::fixed(1);
  std::string routing, traffic, packet, injection = "bernoulli";  // As they were asked for.
  std::uint64_t seed = 1;

  // The time of one flit on a cable.
  Duration cycle() const { return serialise(machine.flit, machine.link.rate); }
  std::uint32_t nodes() const { return topology->graph.node_count(); }
  Bytes packet_size(int flits) const { return machine.flit * flits; }
};

// What a network file says about the experiment itself, in [traffic]; the command line goes first.
struct TrafficDefaults {
  std::string load;
  std::int64_t warmup_cycles = 0, measure_cycles = 0;
};

// The options that a scenario is made from; also what --vary may name without a dot.
inline constexpr std::array<std::string_view, 10> scenario_options = {
    "net",     "routing",   "vcs",         "buffer",  "packet",
    "pattern", "injection", "arbitration", "release", "seed"};

struct ScenarioRequest {
  std::map<std::string, std::string, std::less<>> options;  // Those given, by name.
  std::vector<std::string> sets;                            // "router.vcs=4", over the file.

  // An option by its name or a table.key; the error names the nearest.
  Status set(std::string_view key, std::string_view value);
};

// "vcs=1,2,4", or with values that hold commas "pattern=hotspot:0.1@1,2;uniform".
struct Variation {
  std::string key;
  std::vector<std::string> values;
};
Result<Variation> parse_variation(std::string_view text);

// All combinations of the variations, the first varying slowest; one scenario without any.
Result<std::vector<Scenario>> make_scenarios(const ScenarioRequest& request,
                                             const std::vector<Variation>& variations);
Result<Scenario> make_scenario(const ScenarioRequest& request);
// Of the file named by the request; empty for a spec.
Result<TrafficDefaults> read_defaults(const ScenarioRequest& request);

// The nodes as patterns see them: by coordinates where every router of a cube or HyperX has the
// same number of nodes, by number elsewhere.
Grid grid_of(const Topology& topology);

}  // namespace weft
