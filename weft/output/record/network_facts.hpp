// SPDX-License-Identifier: Apache-2.0
// What a picture of a network needs to know of it; kept with a record, so that the record can be
// read where the network's own files are not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/network/topo/topology.hpp>

namespace weft {

struct NetworkFacts {
  enum class Family : std::uint8_t { cube, tree, graph };

  std::string name;
  Family family = Family::graph;
  std::vector<std::int32_t> radix, wrap;  // Cubes: as struct Cube; wrap is 0 or 1.
  std::vector<std::string> names;         // Of routers; none for cubes.
  std::vector<std::uint8_t> level;        // Of routers in trees; 0 is lowest.
  std::uint32_t routers = 0;

  // By link, as the graph numbers them. link_to: -1 if there is no cable.
  std::vector<std::int32_t> link_from, link_to, link_port;
  std::vector<std::int32_t> node_router;  // By node.

  // Of the machine; none if only the network is known.
  std::vector<double> link_byte_per_s;      // By link.
  std::vector<double> router_buffer_bytes;  // All buffers of a router together.

  std::size_t links() const { return link_from.size(); }
};

const char* to_text(NetworkFacts::Family family);

NetworkFacts facts_of(const Topology& topology);

// A network without circles is a tree: leaves have level 0, the middle the highest.
void find_levels(NetworkFacts& facts);

}  // namespace weft
