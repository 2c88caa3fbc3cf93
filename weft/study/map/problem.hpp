// SPDX-License-Identifier: Apache-2.0
// What is to be placed where: ranks that talk, and the slots of a network's nodes. A map gives each
// rank a slot. Ranks are filled up with silent ones until there is one for every slot, so that
// every map is a permutation and a move to a free slot is a swap like any other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft::map {

using RankMap = std::vector<std::uint32_t>;  // The slot of each rank, silent ones too.

inline constexpr std::uint32_t anywhere = 0xffffffffu;

// What two ranks say to each other, seen from one of them.
struct Talk {
  std::uint32_t peer = 0;
  double out = 0, in = 0;       // Bytes; sums of them are exact below 2^53.
  std::uint8_t directions = 0;  // Ordered pairs: 1 or 2.
  bool sends = false, hears = false;
};

struct Request {
  std::uint32_t slots_per_node = 1;
  std::vector<NodeId> forbidden;      // Nodes that take no rank.
  std::vector<std::uint32_t> fixed;   // By rank: its node, or anywhere. May be shorter.
  std::string routing;                // Empty: the family's default.
  std::vector<double> link_slowness;  // By link class: what a byte costs there; empty: 1.
};

class Problem {
 public:
  // Fails when there are more ranks than slots, or fixed ranks do not fit; says which and where.
  static Result<Problem> make(std::shared_ptr<const Topology> topology, TrafficMatrix traffic,
                              Request request);

  const Topology& topology() const { return *topology_; }
  const TrafficMatrix& traffic() const { return traffic_; }
  const std::string& routing() const { return request_.routing; }

  std::uint32_t ranks() const { return traffic_.ranks(); }  // Without silent ones.
  std::uint32_t slots() const { return static_cast<std::uint32_t>(slot_node_.size()); }
  NodeId node(std::uint32_t slot) const { return NodeId(slot_node_[slot]); }
  std::uint32_t slots_per_node() const { return request_.slots_per_node; }
  // Every node of the network has the same number of slots: slot = node * slots_per_node + place.
  bool whole() const { return request_.forbidden.empty(); }
  std::uint32_t first_slot(NodeId n) const { return first_slot_[n.index]; }
  std::uint32_t slots_at(NodeId n) const { return first_slot_[n.index + 1] - first_slot_[n.index]; }
  bool is_fixed(std::uint32_t rank) const { return fixed_[rank]; }
  bool any_fixed() const { return any_fixed_; }

  std::span<const Talk> talks(std::uint32_t rank) const {
    return {talks_.data() + first_talk_[rank], first_talk_[rank + 1] - first_talk_[rank]};
  }
  std::uint64_t pairs() const { return pairs_; }  // Ordered pairs of different ranks that talk.
  double slowness(LinkId link) const { return slowness_.empty() ? 1 : slowness_[link.index]; }
  const std::vector<double>& slowness() const { return slowness_; }  // By link; empty: all 1.

  // Rank after rank into the first free slot, fixed ones where they belong.
  RankMap in_order() const;
  // The same, but the n-th free slot of `order` gets the n-th rank of `ranks`.
  RankMap in_order(std::span<const std::uint32_t> ranks,
                   std::span<const std::uint32_t> order) const;
  bool is_map(const RankMap& map) const;
  // From nodes by rank. Fails on a node that is full or forbidden, or a fixed rank elsewhere.
  Result<RankMap> from_nodes(std::span<const std::uint32_t> nodes) const;
  std::vector<std::uint32_t> to_nodes(const RankMap& map) const;  // Communicating ranks only.

 private:
  Problem() = default;
  void add_talks();
  Status place_fixed();

  std::shared_ptr<const Topology> topology_;
  TrafficMatrix traffic_;
  Request request_;
  std::vector<std::uint32_t> slot_node_, first_slot_;
  std::vector<std::uint32_t> fixed_slot_;  // By rank, silent ones too.
  std::vector<bool> fixed_;
  bool any_fixed_ = false;
  std::vector<std::size_t> first_talk_;
  std::vector<Talk> talks_;
  std::vector<double> slowness_;
  std::uint64_t pairs_ = 0;
};

}  // namespace weft::map
