// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/path.hpp"

namespace weft {
namespace {

// A router whose outputs are all idle.
class IdlePorts final : public PortView {
 public:
  explicit IdlePorts(std::span<const Port> ports) : ports_(ports) {}
  bool up(int port) const override { return ports_[static_cast<std::size_t>(port)].usable(); }
  Bytes free(int, int) const override { return Bytes{1 << 20}; }
  Bytes queued(int) const override { return Bytes{0}; }

 private:
  std::span<const Port> ports_;
};

// Cables that are down, of one router or of all: "(0,0)-(1,0), (0,0)-(0,1) and 3 more".
struct DownCables {
  static constexpr int named_max = 3;

  void add_of(const Topology& t, RouterId r, bool both_ends) {
    for (const Port& port : t.graph.ports(r)) {
      if (!port.connected() || port.up || (!both_ends && port.peer < r)) continue;
      if (++count <= named_max)
        names += (names.empty() ? "" : ", ") + router_name(t, r) + "-" + router_name(t, port.peer);
    }
  }

  int count = 0;
  std::string names;
};

}  // namespace

bool follow_path(const Policy& policy, const Graph& graph, NodeId from, NodeId to,
                 std::vector<LinkId>& links) {
  links.clear();
  Flight flight{.destination = graph.router_of(to), .source_node = from, .destination_node = to};
  RouterId here = graph.router_of(from);
  Choices choices;
  for (;;) {
    choices.clear();
    policy.next(here, flight, IdlePorts(graph.ports(here)), choices);
    if (choices.empty()) return false;
    const Choice& choice = choices[0];
    if (choice.port == Choice::eject) return true;
    links.push_back(graph.link(here, choice.port));
    flight.state = choice.state;
    if (flight.hops < 255) ++flight.hops;
    here = graph.port(links.back()).peer;
  }
}

std::string explain_no_way(const Topology& topology, RouterId here, NodeId to) {
  DownCables down;
  down.add_of(topology, here, true);
  if (down.count == 0)
    for (std::uint32_t r = 0; r < topology.graph.router_count(); ++r)
      down.add_of(topology, RouterId(r), false);
  std::string text = "no way from " + router_name(topology, here) + " to " +
                     node_name(topology, to) + " under this routing: ";
  if (down.count == 0) return text + "a cable on the way is down";
  text += (down.count == 1 ? "the cable " : "the cables ") + down.names;
  if (down.count > DownCables::named_max)
    text += " and " + std::to_string(down.count - DownCables::named_max) + " more";
  return text + (down.count == 1 ? " is down" : " are down") +
         "; these go round: " + routings_that_reach_all(topology);
}

}  // namespace weft
