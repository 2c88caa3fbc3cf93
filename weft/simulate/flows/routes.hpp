// SPDX-License-Identifier: Apache-2.0
// The way of a message as the routing gives it, without packets: one path where the policy has one
// or draws lots for it, a spread over several where packets of a message choose on the way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <weft/base/result.hpp>
#include <weft/network/route/dimension_order.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/flows/fair_shares.hpp>

namespace weft {

// What stands before a link, as far as policies ask.
class LinkQueues {
 public:
  virtual ~LinkQueues() = default;
  // Nothing where there is room for more; up to most() where the link is full.
  virtual Bytes queued(LinkId link) const = 0;
  virtual Bytes most() const = 0;
};

class Routes {
 public:
  // All outlive this.
  Routes(const Topology& topology, const Policy& policy, const LinkQueues& queues);

  struct Step {
    std::uint32_t link = 0;
    // It leaves the straight way here. On a network without axes everybody does that came over a
    // cable.
    bool turns = false;
    bool operator==(const Step&) const = default;
  };
  struct Path {
    // Links between routers. Short ways need no memory of their own.
    boost::container::small_vector<Step, 3> steps;
    int vcs = 1;  // The fewest that a packet might take on a link.
  };
  // One that a packet with these random bits may take. False: there is none.
  bool find(NodeId from, NodeId to, std::uint64_t bits, Path& path);

  // All packets of this pair take the same path, whatever their bits.
  bool has_one_way(NodeId from, NodeId to) const {
    if (!spreads_) return facts_.one_path || facts_.in_order;
    return cube_ != nullptr && !cube_->tosses(place(from), place(to));
  }

  // The policy looks at queues, so that packets of a message find their ways round what is full.
  bool looks() const { return facts_.looks; }
  // Over so many paths a message of so many packets is spread, as by chance packets would be.
  int paths(std::int64_t packets) const {
    constexpr std::uint64_t most = 32;
    static_assert(LinkUse::whole % most == 0);
    if (!spreads_) return 1;
    return static_cast<int>(
        std::bit_floor(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(packets), 1, most)));
  }

 private:
  // A pair of nodes that has one path, and the path; found again by a hash of the pair. Of the size
  // of a cache line.
  struct alignas(64) Known {
    NodeId from{no_node}, to{no_node};
    Path path;
  };
  static constexpr std::uint32_t no_node = 0xffff'ffff;
  static constexpr std::size_t known_max = std::size_t{1} << 16;

  std::uint64_t place(NodeId node) const {
    return cube_->places().word(topology_.graph.router_of(node));
  }
  bool walk(NodeId from, NodeId to, std::uint64_t bits, Path& path) const;
  void walk_cube(NodeId from, NodeId to, std::uint64_t bits, Path& path) const;
  const Choice& choose(RouterId here, const Choices& choices, std::uint64_t dice) const;

  const Topology& topology_;
  const Policy& policy_;
  const LinkQueues& queues_;
  const PolicyFacts facts_;
  const detail::DimensionOrder* const cube_;  // Null: it is another policy.
  const bool spreads_;
  const bool has_axes_;
  const bool whole_cube_;     // Dimension order, and all cables work.
  std::vector<Known> known_;  // Empty: packets of any pair go different ways.
};

}  // namespace weft
