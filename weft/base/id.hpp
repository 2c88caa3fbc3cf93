// SPDX-License-Identifier: Apache-2.0
// Strongly typed indices: a RouterId does not convert to a NodeId.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <compare>
#include <cstdint>

namespace weft {

template <typename Tag>
struct Id {
  std::uint32_t index = 0;

  constexpr Id() = default;
  explicit constexpr Id(std::uint32_t i) : index(i) {}
  friend constexpr auto operator<=>(Id, Id) = default;
};

using RouterId = Id<struct RouterTag>;
using NodeId = Id<struct NodeTag>;  // A computer: an endpoint, attached to one router.
using LinkId = Id<struct LinkTag>;  // One direction of a cable.

}  // namespace weft
