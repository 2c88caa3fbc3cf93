// SPDX-License-Identifier: Apache-2.0
#include "weft/study/compare/facts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <weft/network/route/policy.hpp>
#include <weft/study/traffic/card_pattern.hpp>
#include <weft/study/traffic/experiment.hpp>

namespace weft::compare {
namespace {

// A half of the nodes shares the cables of the bisection.
double bisection_rate(const NetworkFacts& facts, const NetworkHardware& hardware) {
  Rate slowest = hardware.link.rate;
  bool first = true;
  for (const ClassFacts& c : facts.shape.classes) {
    if (c.cables == 0) continue;
    const Rate rate = hardware.cabling(c.name).rate;
    slowest = first ? rate : std::min(slowest, rate);
    first = false;
  }
  return static_cast<double>(facts.shape.bisection->cables) * slowest.in_byte_per_s() /
         (facts.shape.nodes / 2.0);
}

Result<Latency> find_latency(const MachineDescription& machine, std::unique_ptr<Policy> policy) {
  auto pattern = make_card_pattern("uniform-others", *machine.topology, 1);
  if (!pattern) return std::move(pattern).error();
  Scenario scenario;
  scenario.topology = machine.topology;
  scenario.policy = std::move(policy);
  scenario.pattern = *std::move(pattern);
  scenario.hardware = machine.hardware;
  const auto found = zero_load_latency(scenario);
  if (!found) return Error(found.error());
  const double cycle_ns = scenario.cycle().in_ns();
  return Latency{found->latency_cycles * cycle_ns, found->latency_max_cycles * cycle_ns,
                 found->exact};
}

}  // namespace

Result<NetworkFacts> find_network_facts(const MachineReader& reader, const Prices& prices) {
  const auto machine = reader.read_all();
  if (!machine) return Error(machine.error());
  NetworkFacts facts;
  facts.network = machine->topology->name;
  facts.profile = machine->profile;
  facts.routing = machine->routing;
  const NetworkHardware& hardware = machine->hardware;
  facts.link_rate = hardware.link.rate;
  facts.router_latency =
      hardware.route + hardware.vc_alloc + hardware.switch_alloc + hardware.switch_delay;
  facts.warnings = machine->warnings;
  facts.shape = find_facts(*machine->topology);
  facts.parts = count_parts(*machine, reader.config());
  assume_lengths(prices, facts.parts);
  facts.bisection_per_node = bisection_rate(facts, hardware);
  auto cost = find_cost(facts.parts, prices);
  if (!cost) return std::move(cost).error();
  facts.cost = *std::move(cost);
  if (facts.shape.nodes < 2) return facts;  // Nobody to send to.
  auto policy = reader.make_policy(*machine);
  if (!policy) return std::move(policy).error();
  const int hops_max = (*policy)->facts().hops_max;
  const auto latency = find_latency(*machine, *std::move(policy));
  if (!latency) return Error(latency.error());
  facts.latency = *latency;
  auto capacity = find_capacity(*machine);
  if (!capacity) return std::move(capacity).error();
  facts.capacity = *std::move(capacity);
  // Who may cross twice as many links as are needed goes to a router in the middle first.
  facts.detours =
      facts.capacity.spread && hops_max >= std::max(1, 2 * facts.shape.distance->diameter);
  return facts;
}

}  // namespace weft::compare
