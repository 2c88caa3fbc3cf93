// SPDX-License-Identifier: Apache-2.0
// Positions of different things do not mix: a RouterId is no NodeId.
#pragma once

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
using NodeId = Id<struct NodeTag>;  // A computer: the end of a network, attached to one router.
using LinkId = Id<struct LinkTag>;  // One direction of a cable.

}  // namespace weft
