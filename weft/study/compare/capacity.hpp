// SPDX-License-Identifier: Apache-2.0
// What every node can send at once before the busiest link is full, by counting which links the
// routing uses: an upper bound of what a simulation would find, as queues are not looked at.
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/result.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft::compare {

struct Capacity {
  // Bytes per second and node. Never above what the node's own link carries.
  double uniform = 0;         // Every node to every other, in equal parts.
  bool uniform_exact = true;  // Else from some of the pairs.
  double worst_permutation =
      0;                   // The worst that was found: of other permutations some may be worse.
  std::string worst_name;  // "shift:32", "tornado", ...
  std::uint64_t permutations_tried = 0;
  std::string paths;    // How bytes are spread: "one way", ...
  bool spread = false;  // Evenly over all shortest paths, as the policy chooses among several.
};

// Tries every shift (node n to n + S) up to 4096 nodes, some of them above, the named permutations
// that fit the network, and ten that are drawn by lot. Fails where two nodes have no path.
Result<Capacity> find_capacity(const MachineDescription& machine);

}  // namespace weft::compare
