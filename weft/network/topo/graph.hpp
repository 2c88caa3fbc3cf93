// SPDX-License-Identifier: Apache-2.0
// Routers, the cables between their ports, and the nodes attached to them. Immutable once built;
// knows no time and no packets. Always holds: cables are two-way (the peer of my peer is me), no
// port is used twice, every node has exactly one router.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>

namespace weft {

inline constexpr RouterId no_router{0xffffffffu};

// One end of a cable, seen from the router that owns the port.
struct Port {
  RouterId peer = no_router;  // no_router: nothing is plugged in (the edge of a mesh).
  std::uint16_t peer_port = 0;
  std::uint8_t link_class = 0;  // Which row of Graph::link_classes() describes the cable.
  bool up = true;  // A broken cable keeps its place but carries nothing. Both ends agree.

  bool connected() const { return peer != no_router; }
  bool usable() const { return connected() && up; }
};

struct Cable {  // For building: one two-way connection.
  RouterId a;
  std::uint16_t a_port;
  RouterId b;
  std::uint16_t b_port;
  std::uint8_t link_class = 0;
  bool up = true;
};

class Graph {
 public:
  struct Parts {
    std::vector<std::uint16_t> port_count;  // Per router: network ports, plugged in or not.
    std::vector<Cable> cables;
    std::vector<RouterId> router_of;        // Per node.
    std::vector<std::string> link_classes;  // "x", "local", "global", ...; at most 255.
    std::vector<std::string> router_names;  // Empty: the family's own naming is used.
    std::vector<std::string> node_names;    // Empty: "n0", "n1", ...
  };
  static Result<Graph> make(Parts parts);
  // The same network with these cables broken; either direction of a cable may be given.
  static Graph with_down(Graph graph, std::span<const LinkId> broken);
  // The same network with no cable broken.
  static Graph with_all_up(Graph graph);
  // The same network with these cables, of one class or several, in a new class. REQUIRES: fewer
  // than 255 classes; links are connected.
  static Graph with_class(Graph graph, std::span<const LinkId> links, std::string name);

  std::uint32_t router_count() const { return static_cast<std::uint32_t>(first_port_.size() - 1); }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(router_of_.size()); }
  // A directed link is a port that sends: LinkIds are dense in [0, link_count()), unplugged ports
  // included.
  std::uint32_t link_count() const { return static_cast<std::uint32_t>(ports_.size()); }
  std::uint32_t cable_count() const { return cable_count_; }
  std::uint32_t down_count() const { return down_count_; }  // Cables, as cable_count().
  bool all_up() const { return down_count_ == 0; }

  std::span<const Port> ports(RouterId r) const {
    return {ports_.data() + first_port_[r.index], first_port_[r.index + 1] - first_port_[r.index]};
  }
  LinkId link(RouterId r, int port) const {
    return LinkId(first_port_[r.index] + static_cast<std::uint32_t>(port));
  }
  const Port& port(LinkId link) const { return ports_[link.index]; }
  RouterId source_of(LinkId link) const;

  RouterId router_of(NodeId n) const { return router_of_[n.index]; }
  // Nodes of a router in increasing order; position in this list is the local index (node port).
  std::span<const NodeId> nodes_at(RouterId r) const {
    return {nodes_.data() + first_node_[r.index], first_node_[r.index + 1] - first_node_[r.index]};
  }
  int local_index(NodeId n) const { return local_index_[n.index]; }

  const std::vector<std::string>& link_classes() const { return link_classes_; }
  // The class that with_class() took cables from; otherwise the class itself.
  std::size_t base_class(std::size_t link_class) const { return base_class_[link_class]; }
  const std::vector<std::string>& router_names() const { return router_names_; }
  const std::vector<std::string>& node_names() const { return node_names_; }
  // By the given names (none when they are empty); a binary search.
  std::optional<RouterId> find_router(std::string_view name) const;
  std::optional<NodeId> find_node(std::string_view name) const;

 private:
  Status plug(const Parts& parts);
  Status attach_nodes(std::vector<RouterId> router_of);
  Status index_names();

  std::vector<std::uint32_t> first_port_;
  std::vector<Port> ports_;
  std::vector<RouterId> router_of_;
  std::vector<std::uint32_t> first_node_;
  std::vector<NodeId> nodes_;
  std::vector<std::uint16_t> local_index_;
  std::vector<std::string> link_classes_, router_names_, node_names_;
  std::vector<std::uint8_t> base_class_;
  std::vector<std::uint32_t> routers_by_name_, nodes_by_name_;
  std::uint32_t cable_count_ = 0;
  std::uint32_t down_count_ = 0;
};

}  // namespace weft
