// SPDX-License-Identifier: Apache-2.0
// The paths of bytes: over which links does a byte from one node to another go? Routing as the
// network has it: one path where the policy has one; both directions round a ring where it tosses a
// coin; spread evenly over the shortest paths where it is adaptive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::map {

struct Crossing {
  std::uint32_t link = 0;
  std::uint32_t share = 0;  // Share of the traffic that crosses it, in parts of Paths::whole().
};

// Changes of link loads that add up, and which links they touch.
struct Deltas {
  std::vector<double> by_link;         // Zero where nothing is pending.
  std::vector<std::uint32_t> touched;  // The first `count`; a link may stand there twice.
  std::size_t count = 0;

  void add(std::uint32_t link, double by) {
    double& delta = by_link[link];
    touched[count] = link;
    count += delta == 0 ? 1 : 0;  // No branch: it would be guessed wrong half of the time.
    delta += by;
  }
  // Room for `more` touches.
  void reserve(std::size_t more) {
    if (touched.size() < count + more) touched.resize(2 * (count + more));
  }
};

// Remembers what it was asked for, so every thread has its own.
class Paths {
 public:
  virtual ~Paths() = default;
  // Good until the next call. Empty for nodes of one router.
  virtual std::span<const Crossing> between(NodeId from, NodeId to) = 0;
  // Links crossed, on average rounded to the next whole number; no_way_hops where there is no way.
  virtual std::uint32_t hops(NodeId from, NodeId to) = 0;
  virtual std::uint32_t whole() const { return 1; }
  // Adds `bytes` times whole() to what goes between two nodes; answers hops().
  virtual std::uint32_t pour(NodeId from, NodeId to, double bytes, Deltas& deltas);
};

// Dear, so that a search avoids it.
inline constexpr std::uint32_t no_way_hops = 1000;

// The routing by which maps are judged where none is named: the network's default, with one path
// for every pair of nodes.
std::string default_judging(const Topology& topology);

// The topology outlives the paths. Fails for an unknown routing or one that does not fit.
Result<std::unique_ptr<Paths>> make_paths(const Topology& topology, const std::string& routing);

// "one way", "half-way both ways" or "spread": how the routing is judged.
std::string describe_paths(const Topology& topology, const std::string& routing);

}  // namespace weft::map
