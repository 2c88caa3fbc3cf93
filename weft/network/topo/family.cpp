// SPDX-License-Identifier: Apache-2.0
// What families of networks share when they are made: grids, names, nodes at routers.
#include "weft/network/topo/family.hpp"

#include <fmt/core.h>

#include <weft/base/text.hpp>

namespace weft::detail {

GridShape::GridShape(std::vector<GridAxis> axes) : axes_(std::move(axes)) {}

Coordinates GridShape::coordinates(RouterId r) const {
  Coordinates c;
  std::uint32_t rest = r.index;
  for (const GridAxis& axis : axes_) {
    c.push_back(static_cast<int>(rest % static_cast<std::uint32_t>(axis.size)));
    rest /= static_cast<std::uint32_t>(axis.size);
  }
  return c;
}

std::optional<RouterId> GridShape::find_router(const Coordinates& c) const {
  if (c.size() != axes_.size()) return std::nullopt;
  std::uint32_t index = 0;
  for (std::size_t d = axes_.size(); d-- > 0;) {
    if (c[d] < 0 || c[d] >= axes_[d].size) return std::nullopt;
    index = index * static_cast<std::uint32_t>(axes_[d].size) + static_cast<std::uint32_t>(c[d]);
  }
  return RouterId(index);
}

std::string GridShape::router_name(RouterId r) const {
  return tuple_text(coordinates(r));
}

std::optional<RouterId> GridShape::find_router(std::string_view name) const {
  const auto c = parse_tuple(name);
  return c ? find_router(*c) : std::nullopt;
}

std::vector<RouterId> place_nodes(std::uint64_t routers, int p) {
  std::vector<RouterId> router_of;
  router_of.reserve(routers * static_cast<std::uint64_t>(p));
  for (std::uint32_t r = 0; r < routers; ++r)
    router_of.insert(router_of.end(), static_cast<std::size_t>(p), RouterId(r));
  return router_of;
}

std::string dimension_name(int dimension) {
  constexpr std::string_view letters = "xyzabc";
  const auto at = static_cast<std::size_t>(dimension);
  return at < letters.size() ? std::string(1, letters[at]) : "d" + std::to_string(dimension);
}

std::string spec_name(std::string_view kind, const std::string& sizes, int p) {
  return fmt::format("{}:{}{}", kind, sizes, p == 1 ? "" : fmt::format(",p={}", p));
}

std::string tuple_text(const Coordinates& c) {
  std::string text = "(";
  for (std::size_t d = 0; d < c.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(c[d]);
  return text + ")";
}

std::optional<Coordinates> parse_tuple(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
  Coordinates c;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    const auto value = parse_int(trim(part));
    if (!value || *value < 0 || *value > static_cast<int>(max_routers)) return std::nullopt;
    c.push_back(static_cast<int>(*value));
  }
  return c;
}

std::optional<std::uint32_t> parse_numbered(std::string_view name, char prefix) {
  if (name.size() < 2 || name[0] != prefix) return std::nullopt;
  const auto value = parse_int(name.substr(1));
  if (!value || *value < 0 || *value > 0xffffffff) return std::nullopt;
  if (std::to_string(*value) != name.substr(1)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace weft::detail
