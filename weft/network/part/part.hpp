// SPDX-License-Identifier: Apache-2.0
// A network cut into parts, one per worker. Every router belongs to exactly one part and no part is
// empty. Which cut is taken changes how fast a simulation runs, never what it says.
#pragma once  // Public only for network.hpp: no promise beyond what that one needs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

// Which routers a worker owns.
struct Parts {
  std::vector<std::uint32_t> order;  // All routers, part by part, ascending within a part.
  std::vector<std::uint32_t> first;  // Part p: order[first[p]] .. order[first[p + 1] - 1].

  int count() const { return static_cast<int>(first.size()) - 1; }
};

enum class Cut { automatic, blocks, subtrees, metis, ranges };
Result<Cut> parse_cut(std::string_view text);
std::string_view to_text(Cut cut);
std::string list_cuts();  // A line each: name and what it does.
bool has_metis();         // Was it there when weft was built?

struct PartRequest {
  int parts = 1;
  Cut cut = Cut::automatic;
  // Expected load by router; empty: node_weights().
  std::vector<std::uint32_t> weight;
};
// The same request has the same answer. Parts with near numbers lie near each other where the
// family allows it, so that the workers of one process can take consecutive parts.
// Routers that have cards of the same nodes are in one part, and so are the copies of a router.
Result<Parts> partition(const Topology& topology, const PartRequest& request);
// No network can be cut into more parts than this.
std::uint32_t parts_max(const Topology& topology);

// What a router costs under even load: 1 for each network port, plugged in or not, and 2 for each
// node at it (its port, and the card and the ranks behind it). All routers of a cube weigh the
// same; in a fat tree the leaves weigh most, but those above are not free.
std::vector<std::uint32_t> node_weights(const Topology& topology);

// The part of each router.
std::vector<std::uint32_t> owners(const Parts& parts);

// A link is one direction of a cable that is up: a cable between two parts counts twice.
struct PartFacts {
  std::uint64_t links_cut = 0;
  std::uint64_t links = 0;
  std::uint64_t heaviest = 0, lightest = 0, total = 0;  // Sums of weights.
};
// `weight` as in PartRequest.
PartFacts examine(const Topology& topology, const Parts& parts,
                  const std::vector<std::uint32_t>& weight);

}  // namespace weft
