// SPDX-License-Identifier: Apache-2.0
// What the cables carried in the measured window, between routers and between nodes and routers.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/pack.hpp>
#include <weft/base/units.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft {

// Utilisation of usable cables, each direction by itself.
struct LinkUse {
  double max = 0, mean = 0;
  LinkId busiest;
  double news_max = 0, news_mean = 0;  // Share of what routers tell each other, in band.
  double node_max = 0, node_mean = 0;  // Of cables between nodes and routers.
  NodeId busiest_node;
  bool busiest_ejects = false;  // Its cable is the one to the node.
};

class LinkMeter {
 public:
  explicit LinkMeter(const Scenario& scenario) : scenario_(scenario) {}

  // At the ends of the window: notes the cables that are here. The network has run until `now`.
  void begin(const Network& network, Time now);
  void end(const Network& network, Time now);

  // What is known here, and what all know together.
  void pack(Packer& letter) const;
  void add(Unpacker& letter);
  // Cables are summed in their order, so the bits do not depend on the number of workers.
  LinkUse use(Duration window) const;

 private:
  struct Carried {
    std::uint32_t link;
    std::uint64_t bytes, news;
  };
  struct NodeCarried {
    std::uint32_t node;
    std::uint64_t injected, ejected;
  };
  Rate rate_of(const Port& port) const;
  void add_node_use(double seconds, LinkUse& found) const;

  const Scenario& scenario_;
  std::vector<Carried> here_;
  std::vector<NodeCarried> nodes_here_;
  std::vector<std::uint64_t> bytes_, news_;        // By link.
  std::vector<std::uint64_t> injected_, ejected_;  // By node.
};

}  // namespace weft
