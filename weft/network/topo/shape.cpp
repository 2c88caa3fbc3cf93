// SPDX-License-Identifier: Apache-2.0
// The answers of a network that belongs to no family.
#include "weft/network/topo/shape.hpp"

#include <weft/network/topo/family.hpp>

namespace weft {

std::uint32_t SwitchTree::leaves() const {
  std::uint32_t count = 1;
  for (std::size_t l = 1; l < children.size(); ++l)
    count *= static_cast<std::uint32_t>(children[l]);
  return count;
}

Coordinates Shape::coordinates(RouterId r) const {
  return {static_cast<int>(r.index)};
}

std::optional<RouterId> Shape::find_router(const Coordinates& c) const {
  if (c.size() != 1 || c[0] < 0) return std::nullopt;
  return RouterId(static_cast<std::uint32_t>(c[0]));
}

std::string Shape::router_name(RouterId r) const {
  return "r" + std::to_string(r.index);
}

std::optional<RouterId> Shape::find_router(std::string_view name) const {
  const auto number = detail::parse_numbered(name, 'r');
  return number ? std::optional(RouterId(*number)) : std::nullopt;
}

std::optional<int> Shape::distance(const Graph&, RouterId, RouterId) const {
  return std::nullopt;
}

std::optional<DistanceSum> Shape::distance_sum(const Graph&) const {
  return std::nullopt;
}

std::optional<Bisection> Shape::bisection() const {
  return std::nullopt;
}

std::optional<int> Shape::diameter_max() const {
  return std::nullopt;
}

ShapeRef plain_shape() {
  static const ShapeRef shape = std::make_shared<const Shape>();
  return shape;
}

}  // namespace weft
