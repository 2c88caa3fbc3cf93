// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/kinds.hpp"

#include <array>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/spec.hpp>

namespace weft {

namespace detail {
#define WEFT_KIND(name) extern const TopologyKind name##_kind;
#include <weft/network/topo/kinds.inc>
#undef WEFT_KIND
}  // namespace detail

std::span<const TopologyKind> topology_kinds() {
  static const std::array table = {
#define WEFT_KIND(name) detail::name##_kind,
#include <weft/network/topo/kinds.inc>
#undef WEFT_KIND
  };
  return table;
}

const TopologyKind* find_kind(std::string_view name) {
  for (const TopologyKind& kind : topology_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

Result<Topology> make_topology(std::string_view spec, std::optional<int> nodes_per_router) {
  const std::string_view whole = trim(spec);
  const std::size_t colon = whole.find(':');
  const std::string_view name = trim(whole.substr(0, colon));
  const TopologyKind* kind = find_kind(name);
  if (kind == nullptr) {
    std::vector<std::string_view> names;
    for (const TopologyKind& k : topology_kinds()) names.push_back(k.name);
    return Error::input(fmt::format("unknown kind of network '{}'{}", name, suggest(name, names)));
  }
  detail::Spec read(*kind,
                    colon == std::string_view::npos ? std::string_view() : whole.substr(colon + 1));
  if (nodes_per_router) read.set("p", std::to_string(*nodes_per_router));
  auto made = kind->make(read);
  // A file's errors have a place of their own.
  if (!made && made.error().file().empty())
    return std::move(made).error().during(std::string(whole));
  return made;
}

Result<Topology> make_topology(std::string_view spec) {
  return make_topology(spec, std::nullopt);
}

}  // namespace weft
