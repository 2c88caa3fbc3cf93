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

}  // namespace weft
