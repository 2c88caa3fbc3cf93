// SPDX-License-Identifier: Apache-2.0
// What we need to know of a machine: which processors and how much memory its NUMA nodes have, how
// far they are from each other, and which network cards are near which of them. Numbers of nodes
// and processors are the system's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::locality {

struct Core {
  std::vector<int> cpus;  // Its hardware threads.

  friend bool operator==(const Core&, const Core&) = default;
};

struct NumaNode {
  int index = 0;
  int socket = 0;
  Bytes memory;
  std::vector<Core> cores;  // None in nodes that are memory only.

  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct Card {
  std::string name;          // eth0, mlx5_0
  bool openfabrics = false;  // Else a network interface.
  std::vector<int> nodes;    // Those it is next to; none: unknown, or alike to all.
  std::string bus;           // Where it is plugged in ("0000:3b:00.0"); empty: unknown.
  Rate link;                 // Of the slot; zero: unknown.

  friend bool operator==(const Card&, const Card&) = default;
};

// An assumption: older machines with two sockets carry about half of this between them.
constexpr Rate least_memory_rate = Rate::gbyte_per_s(20);

struct Machine {
  std::vector<NumaNode> nodes;  // By index.
  std::vector<std::vector<int>>
      distances;  // By position in `nodes`, as firmware tells; near is 10.
  std::vector<Card> cards;
  // What links between nodes carry for cards, times distance / distance at home; see lower_rates().
  Rate memory_rate = least_memory_rate;

  friend bool operator==(const Machine&, const Machine&) = default;
};

constexpr int near_distance = 10;
constexpr int far_distance = 20;  // Where nobody tells.

// Null when there is no such node.
const NumaNode* find_node(const Machine& machine, int index);
const Card* find_card(const Machine& machine, const std::string& name);
// far_distance if one of them is no node of this machine.
int distance(const Machine& machine, int from, int to);
// The least from a node to any of several; -1 when there are none.
int distance(const Machine& machine, int from, std::span<const int> to);

// All processors, by node.
std::vector<int> cpus_of(const Machine& machine);
std::vector<int> cpus_of(const NumaNode& node);
// Only these processors may be used, as when somebody has bound us already.
Machine keep_cpus(Machine machine, std::span<const int> allowed);
// Of which nothing is known but its processors.
Machine flat_machine(std::span<const int> cpus);

// One line; reading gives the same machine.
std::string to_text(const Machine& machine);
Result<Machine> parse_machine(const std::string& text);

}  // namespace weft::locality
