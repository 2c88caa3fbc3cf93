// SPDX-License-Identifier: Apache-2.0
#include "weft/study/compare/cost.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace weft::compare {
namespace {

std::optional<Length> known_length(const Cabling& cabling) {
  return cabling.length > Length{} ? std::optional(cabling.length) : std::nullopt;
}

// Whether a key of one of the tables says how long cables are; a delay says it as well.
bool gives_length(const Config& config, const std::vector<std::string>& tables) {
  for (const ConfigReading& reading : config.readings())
    if (reading.given && (reading.key == "length" || reading.key == "delay") &&
        std::find(tables.begin(), tables.end(), reading.table) != tables.end())
      return true;
  return false;
}

// The length to pay for. The error says where a length can be given.
Result<Length> length_to_pay(const CableGroup& group, const Prices& prices) {
  if (group.length) return *group.length;
  const std::string key = group.to_nodes ? "nic.length" : fmt::format("link.{}.length", group.name);
  return Error::input(fmt::format("the length of cables of class '{}' is not known; set {} in the "
                                  "network file, or length in [cable] of this file",
                                  group.name, key))
      .at(prices.name, 0);
}

Status add_cables(const CableGroup& group, const Prices& prices, Cost& cost) {
  const auto length = length_to_pay(group, prices);
  if (!length) return Error(length.error());
  const auto offer = offer_for(prices, *length);
  if (!offer) return Error(offer.error());
  const auto count = static_cast<double>(group.count);
  const double metres = static_cast<double>(length->mm) / 1000;
  cost.cables += count * ((*offer)->each.price + (*offer)->price_per_metre * metres);
  cost.watts += count * (*offer)->each.watts;
  cost.cables_by_kind[(*offer)->kind] += group.count;
  cost.assumed_length = cost.assumed_length || group.from_prices;
  return {};
}

}  // namespace

Parts count_parts(const MachineDescription& machine, const Config& config) {
  const Graph& graph = machine.topology->graph;
  Parts parts;
  for (const std::string& name : graph.link_classes())
    parts.cables.push_back({name, false, 0, known_length(machine.hardware.cabling(name)),
                            !gives_length(config, {"link", "link." + name})});
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    int ports = static_cast<int>(graph.nodes_at(RouterId(r)).size());
    for (const Port& port : graph.ports(RouterId(r))) {
      if (!port.connected()) continue;
      ++ports;
      if (port.peer.index > r) ++parts.cables[port.link_class].count;
    }
    ++parts.switches[ports];
  }
  parts.cards = graph.node_count();
  parts.cables.push_back({"to nodes", true, parts.cards, known_length(machine.hardware.node_link),
                          !gives_length(config, {"nic"})});
  return parts;
}

void assume_lengths(const Prices& prices, Parts& parts) {
  if (!prices.usual_length) return;
  for (CableGroup& group : parts.cables) {
    if (group.length && !group.from_profile) continue;
    group.length = prices.usual_length;
    group.from_profile = false;
    group.from_prices = true;
  }
}

Result<Cost> find_cost(const Parts& parts, const Prices& prices) {
  Cost cost;
  for (const auto& [ports, count] : parts.switches) {
    const auto each = price_of_switch(prices, ports);
    if (!each) return Error(each.error());
    cost.switches += static_cast<double>(count) * each->price;
    cost.watts += static_cast<double>(count) * each->watts;
  }
  for (const CableGroup& group : parts.cables)
    if (group.count > 0)
      if (Status s = add_cables(group, prices, cost); !s) return std::move(s).error();
  cost.cards = static_cast<double>(parts.cards) * prices.card.price;
  cost.watts += static_cast<double>(parts.cards) * prices.card.watts;
  return cost;
}

}  // namespace weft::compare
