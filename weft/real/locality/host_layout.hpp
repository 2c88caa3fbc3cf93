// SPDX-License-Identifier: Apache-2.0
// What we need to know about a host: the processors and memory of its NUMA nodes, the distances
// between them, and which NICs are near which node. Nodes and processors have the system's numbers.
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
  std::vector<Core> cores;  // Empty for memory-only nodes.

  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct Nic {
  std::string name;          // eth0, mlx5_0
  bool openfabrics = false;  // Otherwise a network interface.
  std::vector<int> nodes;    // The nearest nodes; empty: unknown, or equally far from all.
  std::string bus;           // PCI address ("0000:3b:00.0"); empty: unknown.
  Rate link;                 // Rate of the slot; zero: unknown.

  friend bool operator==(const Nic&, const Nic&) = default;
};

// An assumption: older machines with two sockets have about half of this between them.
constexpr Rate least_memory_rate = Rate::gbyte_per_s(20);

struct HostLayout {
  std::vector<NumaNode> nodes;  // By index.
  std::vector<std::vector<int>>
      distances;  // By position in `nodes`, as reported by the firmware; local is 10.
  std::vector<Nic> nics;
  // The rate of links between nodes for NICs is this times local distance / distance; see
  // lower_rates().
  Rate memory_rate = least_memory_rate;

  friend bool operator==(const HostLayout&, const HostLayout&) = default;
};

constexpr int near_distance = 10;
constexpr int far_distance = 20;  // Used if unknown.

// Null when there is no such node.
const NumaNode* find_node(const HostLayout& layout, int index);
const Nic* find_nic(const HostLayout& layout, const std::string& name);
// far_distance if either is not a node of this host.
int distance(const HostLayout& layout, int from, int to);
// The smallest distance from a node to any of several; -1 when there are none.
int distance(const HostLayout& layout, int from, std::span<const int> to);

// All processors, by node.
std::vector<int> cpus_of(const HostLayout& layout);
std::vector<int> cpus_of(const NumaNode& node);
// Keeps only these processors, as when somebody has bound us already.
HostLayout keep_cpus(HostLayout layout, std::span<const int> allowed);
// A host of which only the processors are known.
HostLayout flat_host_layout(std::span<const int> cpus);

// One line; parsing gives the same layout.
std::string to_text(const HostLayout& layout);
Result<HostLayout> parse_host_layout(const std::string& text);

}  // namespace weft::locality
