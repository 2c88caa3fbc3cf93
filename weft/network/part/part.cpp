// SPDX-License-Identifier: Apache-2.0
#include "weft/network/part/part.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>
#include <weft/base/units.hpp>
#include <weft/network/part/cuts.hpp>
#include <weft/network/topo/planes.hpp>

namespace weft {
namespace {

using detail::CutTask;
using detail::Owners;

bool has_coordinates(const Shape& shape) {
  return !shape.axes().empty();
}
bool is_tree(const Shape& shape) {
  return shape.tree() != nullptr;
}
bool is_any(const Shape&) {
  return true;
}

struct CutEntry {
  std::string_view name;
  std::string_view help;
  bool (*fits)(const Shape& shape);
  std::string_view family;  // What it fits, for errors.
};

constexpr std::array entries = {
    // In the order of Cut.
    CutEntry{"automatic", "what costs least of those that fit: blocks for tori and meshes", &is_any,
             "any network"},
    CutEntry{"blocks", "by coordinates, along the axis that cuts the fewest links",
             &has_coordinates, "tori, meshes and HyperX"},
    CutEntry{"subtrees", "leaf switches together with those above them", &is_tree, "fat trees"},
    CutEntry{"metis", "the METIS library on the graph of routers", &is_any, "any network"},
    CutEntry{"ranges", "routers by their numbers", &is_any, "any network"},
};

const CutEntry& entry(Cut cut) {
  return entries[static_cast<std::size_t>(cut)];
}

bool built_in(Cut cut) {
  return cut != Cut::metis || has_metis();
}

std::string others(const Shape& shape) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].fits(shape) && built_in(static_cast<Cut>(i))) names.push_back(entries[i].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status check(const Topology& topology, const PartRequest& request) {
  const std::uint32_t routers = topology.graph.router_count();
  if (request.parts < 1) return Error::call("there must be at least 1 worker");
  if (static_cast<std::uint32_t>(request.parts) > routers)
    return Error::call(fmt::format("{} workers, but at most {} for {} router{} ({})", request.parts,
                                   routers, routers, routers == 1 ? "" : "s", topology.name));
  const CutEntry& wanted = entry(request.cut);
  if (!wanted.fits(*topology.shape))
    return Error::call(fmt::format("partition '{}' is for {}; for {} choose one of: {}",
                                   wanted.name, wanted.family, topology.name,
                                   others(*topology.shape)));
  if (!built_in(request.cut))
    return Error::call(
        fmt::format("partition '{}': this weft was built without METIS (Debian: libmetis-dev); "
                    "choose one of: {}",
                    wanted.name, others(*topology.shape)));
  return {};
}

Result<Owners> cut(const CutTask& task, Cut how) {
  switch (how) {
    case Cut::blocks:
      return detail::cut_blocks(task);
    case Cut::subtrees:
      return detail::cut_subtrees(task);
    case Cut::metis:
      return detail::cut_metis(task);
    case Cut::automatic:
    case Cut::ranges:
      break;
  }
  return detail::cut_ranges(task);
}

std::vector<Cut> candidates(const Shape& shape) {
  if (shape.lattice() != nullptr) return {Cut::blocks};
  if (is_tree(shape)) return {Cut::subtrees, Cut::metis};
  if (has_coordinates(shape)) return {Cut::blocks, Cut::metis, Cut::ranges};
  // Numbers given with care (groups of a dragonfly, racks in a file) can be as good as a search.
  return {Cut::metis, Cut::ranges};
}

// All wait for the heaviest part, and a packet that goes to another part is taken to cost half as
// much again.
detail::UnsignedWide cost(const CutTask& task, const Owners& owner) {
  const auto sums = detail::part_weights(task, owner);
  const std::uint64_t links = task.topology.graph.link_count();
  return detail::UnsignedWide{*std::max_element(sums.begin(), sums.end())} *
         (2 * links + detail::links_between(task.topology.graph, owner));
}

Owners cut_automatically(const CutTask& task) {
  Owners best;
  detail::UnsignedWide least = 0;
  for (const Cut how : candidates(*task.topology.shape)) {
    if (!built_in(how)) continue;
    auto owner = cut(task, how);
    if (!owner) continue;
    const detail::UnsignedWide own = cost(task, *owner);
    if (best.empty() || own < least) {
      best = *std::move(owner);
      least = own;
    }
  }
  return best;
}

Parts collect(const Owners& owner, std::uint32_t parts) {
  Parts made;
  made.first.resize(parts + 1);
  for (const std::uint32_t p : owner) ++made.first[p + 1];
  for (std::uint32_t p = 0; p < parts; ++p) {
    WEFT_CHECK(made.first[p + 1] > 0);
    made.first[p + 1] += made.first[p];
  }
  made.order.resize(owner.size());
  std::vector<std::uint32_t> next(made.first.begin(), made.first.end() - 1);
  for (std::uint32_t r = 0; r < owner.size(); ++r) made.order[next[owner[r]]++] = r;
  return made;
}

std::vector<std::uint32_t> weights(const Topology& topology,
                                   const std::vector<std::uint32_t>& given) {
  if (given.empty()) return node_weights(topology);
  WEFT_CHECK(given.size() == topology.graph.router_count());
  // Where nothing weighs anything, routers are counted.
  if (std::all_of(given.begin(), given.end(), [](std::uint32_t w) { return w == 0; }))
    return std::vector<std::uint32_t>(given.size(), 1);
  return given;
}

// What is cut where routers belong together: one copy of a network of copies, else the network with
// each set of routers as one.
Result<Topology> joined_network(const Topology& topology, const RouterSets& sets) {
  const Planes* const planes = topology.shape->planes();
  if (planes != nullptr && planes->routers == sets.count) return plane_of(topology, 0);
  auto graph = join_routers(topology.graph, sets);
  if (!graph) return std::move(graph).error();
  return Topology{topology.name, plain_shape(), *std::move(graph)};
}

Result<Parts> cut_together(const Topology& topology, const PartRequest& request,
                           const RouterSets& sets) {
  const auto joined = joined_network(topology, sets);
  if (!joined) return Error(joined.error());
  PartRequest inner{request.parts, request.cut, std::vector<std::uint32_t>(sets.count, 0)};
  const std::vector<std::uint32_t> weight = weights(topology, request.weight);
  for (std::size_t r = 0; r < weight.size(); ++r) inner.weight[sets.of_router[r]] += weight[r];
  const auto parts = partition(*joined, inner);
  if (!parts) return Error(parts.error());
  const Owners of_set = owners(*parts);
  Owners owner(topology.graph.router_count());
  for (std::size_t r = 0; r < owner.size(); ++r) owner[r] = of_set[sets.of_router[r]];
  return collect(owner, static_cast<std::uint32_t>(request.parts));
}

}  // namespace

Result<Cut> parse_cut(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].name == text) return static_cast<Cut>(i);
    names.push_back(entries[i].name);
  }
  return Error::call(fmt::format("unknown partition '{}'{}", text, suggest(text, names)));
}

std::string_view to_text(Cut cut) {
  return entry(cut).name;
}

std::string list_cuts() {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += fmt::format("{:<10} {}{}\n", entries[i].name, entries[i].help,
                        built_in(static_cast<Cut>(i)) ? "" : " (not in this build)");
  return text;
}

std::uint32_t parts_max(const Topology& topology) {
  return topology.cards == 1 ? topology.graph.router_count() : routers_together(topology).count;
}

Result<Parts> partition(const Topology& topology, const PartRequest& request) {
  if (topology.cards > 1) {
    const RouterSets sets = routers_together(topology);
    if (sets.count < topology.graph.router_count()) return cut_together(topology, request, sets);
  }
  if (Status s = check(topology, request); !s) return std::move(s).error();
  const auto parts = static_cast<std::uint32_t>(request.parts);
  if (parts == 1) return collect(Owners(topology.graph.router_count()), 1);
  const std::vector<std::uint32_t> weight = weights(topology, request.weight);
  const CutTask task{topology, weight, parts};
  if (request.cut == Cut::automatic) return collect(cut_automatically(task), parts);
  auto owner = cut(task, request.cut);
  if (!owner) return std::move(owner).error();
  return collect(*owner, parts);
}

std::vector<std::uint32_t> node_weights(const Topology& topology) {
  std::vector<std::uint32_t> made(topology.graph.router_count());
  for (std::uint32_t r = 0; r < made.size(); ++r)
    made[r] = static_cast<std::uint32_t>(topology.graph.ports(RouterId(r)).size() +
                                         2 * topology.graph.nodes_at(RouterId(r)).size());
  return made;
}

std::vector<std::uint32_t> owners(const Parts& parts) {
  std::vector<std::uint32_t> made(parts.order.size());
  for (std::uint32_t p = 0; p + 1 < parts.first.size(); ++p)
    for (std::uint32_t i = parts.first[p]; i < parts.first[p + 1]; ++i) made[parts.order[i]] = p;
  return made;
}

PartFacts examine(const Topology& topology, const Parts& parts,
                  const std::vector<std::uint32_t>& weight) {
  PartFacts facts;
  const Graph& graph = topology.graph;
  const std::vector<std::uint32_t> owner = owners(parts);
  facts.links_cut = detail::links_between(graph, owner);
  facts.links = 2 * (std::uint64_t{graph.cable_count()} - graph.down_count());
  const std::vector<std::uint32_t> own = weights(topology, weight);
  const auto sums =
      detail::part_weights({topology, own, static_cast<std::uint32_t>(parts.count())}, owner);
  facts.heaviest = *std::max_element(sums.begin(), sums.end());
  facts.lightest = *std::min_element(sums.begin(), sums.end());
  for (const std::uint64_t w : sums) facts.total += w;
  return facts;
}

}  // namespace weft
