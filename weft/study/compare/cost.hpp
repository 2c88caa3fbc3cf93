// SPDX-License-Identifier: Apache-2.0
// The parts that a network is built of, and what they cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/simulate/machine/description.hpp>
#include <weft/study/compare/prices.hpp>

namespace weft::compare {

// Cables of one class. Those between cards and routers are a class, too.
struct CableGroup {
  std::string name;
  bool to_nodes = false;
  std::uint64_t count = 0;
  std::optional<Length> length;  // Nothing: not known.
  bool from_profile = false;     // The length: no key of the description gives it.
  bool from_prices = false;      // The same, and the prices say what it counts as.
};

struct Parts {
  std::map<int, std::uint64_t> switches;  // By ports in use, to cables and to nodes.
  std::vector<CableGroup> cables;         // In the order of the graph's classes, then to nodes.
  std::uint64_t cards = 0;
};

// Broken cables are there and cost as others do. `config` is what the machine was read from.
Parts count_parts(const MachineDescription& machine, const Config& config);

// Cables whose length no key of the description gives are as long as the prices say, if they do.
void assume_lengths(const Prices& prices, Parts& parts);

struct Cost {
  double switches = 0, cables = 0, cards = 0;
  double watts = 0;
  std::map<std::string, std::uint64_t> cables_by_kind;
  bool assumed_length = false;  // Of some cable.

  double total() const { return switches + cables + cards; }
};

Result<Cost> find_cost(const Parts& parts, const Prices& prices);

}  // namespace weft::compare
