// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/kinds.hpp"

#include <array>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/planes.hpp>
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

namespace {

// Takes planes=N and rails=N, which every kind has, out of what follows the colon of a spec.
Result<std::string> take_cards(std::string_view rest, CardPlan& plan) {
  std::string others;
  for (const std::string_view item : split(rest, ',')) {
    const std::size_t equals = item.find('=');
    const std::string_view key = trim(item.substr(0, equals));
    int* const count = equals == std::string_view::npos ? nullptr
                       : key == "planes"                ? &plan.planes
                       : key == "rails"                 ? &plan.rails
                                                        : nullptr;
    if (count == nullptr) {
      others += (others.empty() ? "" : ",") + std::string(item);
      continue;
    }
    const auto value = parse_int(trim(item.substr(equals + 1)));
    if (*count != 1) return Error::input(fmt::format("'{}' is given twice", key));
    if (!value || *value < 1 || *value > cards_max)
      return Error::input(fmt::format("'{}' is {}, but must be from 1 to {}", key,
                                      trim(item.substr(equals + 1)), cards_max));
    *count = static_cast<int>(*value);
  }
  return others;
}

}  // namespace

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
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : whole.substr(colon + 1);
  CardPlan plan;
  // A file's name may hold commas and equals signs.
  const bool is_file = kind->parameters.size() == 1 && kind->example.empty();
  auto own = is_file ? Result<std::string>(std::string(rest)) : take_cards(rest, plan);
  if (!own) return std::move(own).error().during(std::string(whole));
  detail::Spec read(*kind, *own);
  if (nodes_per_router) read.set("p", std::to_string(*nodes_per_router));
  auto made = kind->make(read);
  if (made) made = with_cards(*std::move(made), plan);
  // A file's errors have a place of their own.
  if (!made && made.error().file().empty())
    return std::move(made).error().during(std::string(whole));
  return made;
}

Result<Topology> make_topology(std::string_view spec) {
  return make_topology(spec, std::nullopt);
}

}  // namespace weft
