// SPDX-License-Identifier: Apache-2.0
// Routing in a network of copies (weft/network/topo/planes.hpp): in each by the policy of that copy
// alone. A packet stays in the copy in which it began.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <weft/network/route/policy.hpp>

namespace weft::detail {

// The networks that a routing is made for: the copies of a network that has some, as far as they
// differ, else the network itself.
class RoutedParts {
 public:
  explicit RoutedParts(const Topology& topology);
  std::span<const Topology* const> all() const { return parts_; }

 private:
  std::vector<std::unique_ptr<Topology>> copies_;
  std::vector<const Topology*> parts_;
};

// REQUIRES: topology.shape->planes() is set.
Result<std::unique_ptr<Policy>> make_plane_policy(std::string_view routing,
                                                  const Topology& topology, int vcs);

}  // namespace weft::detail
