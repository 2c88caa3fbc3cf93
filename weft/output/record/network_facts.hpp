// SPDX-License-Identifier: Apache-2.0
// What a picture needs to know about a network. It is stored with a record, so that the record can
// be read without the network's own files.
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
  std::vector<std::int32_t> radix, wrap;  // Grids only, as in Lattice; wrap is 0 or 1.
  std::vector<std::string> names;         // Router names; empty for cubes.
  std::vector<std::uint8_t> level;        // Router levels in trees; 0 is lowest.
  std::vector<std::int32_t> group;        // Router groups, as of a dragonfly; empty if none.
  std::uint32_t routers = 0;

  // By link, numbered as in the graph. link_to is -1 if no cable is attached.
  std::vector<std::int32_t> link_from, link_to, link_port;
  std::vector<std::int32_t> node_router;  // By node.

  // Properties of the machine; empty if only the network is known.
  std::vector<double> link_byte_per_s;      // By link.
  std::vector<double> router_buffer_bytes;  // Sum of all buffers of a router.
  std::vector<double> injection_byte_per_s,
      ejection_byte_per_s;  // By node: its link to the router.

  std::size_t links() const { return link_from.size(); }
};

const char* to_text(NetworkFacts::Family family);

NetworkFacts facts_of(const Topology& topology);

// "g3.r1", or "(3,0,1)" in cubes.
std::string router_name(const NetworkFacts& facts, std::uint32_t router);

// A network without cycles is a tree: leaves have level 0, the centre the highest.
void find_levels(NetworkFacts& facts);

}  // namespace weft
