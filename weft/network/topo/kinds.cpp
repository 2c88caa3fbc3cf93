// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/kinds.hpp"

#include <array>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>

namespace weft {
namespace {

constexpr SpecParameter nodes{"p", "nodes per router (1)"};
constexpr SpecParameter sizes{"", "routers per dimension, such as 16x16x8; each at least 2"};
constexpr std::array cube_parameters = {sizes, nodes};
constexpr std::array wrap_parameters = {
    sizes, SpecParameter{"wrap", "a 1 (ring) or 0 (line) for each dimension"}, nodes};
constexpr std::array tofu_parameters = {
    SpecParameter{"", "XxYxZ rings of units of 2x3x2 (which may be written out)"}, nodes};
constexpr std::array ring_parameters = {SpecParameter{"", "routers"}, nodes};
constexpr std::array hypercube_parameters = {SpecParameter{"", "dimensions"}, nodes};
constexpr std::array fat_tree_parameters = {
    SpecParameter{"k", "k-ary n-tree: k down and k up at every switch"},
    SpecParameter{"radix", "instead of k: ports of a switch, half up; the top has all down"},
    SpecParameter{"levels", "levels of switches"},
    SpecParameter{"taper", "divides the up-links of the leaf switches (1)"}};
constexpr std::array xgft_parameters = {
    SpecParameter{"m", "children per switch, from the leaves: 16x8x4"},
    SpecParameter{"w", "parents, from the nodes: 1x4x2; the first is 1"}};
constexpr std::array dragonfly_parameters = {
    SpecParameter{"a", "routers per group"}, SpecParameter{"h", "global cables per router"},
    SpecParameter{"p", "nodes per router (h)"}, SpecParameter{"g", "groups (a*h+1, the most)"}};
constexpr std::array file_parameters = {SpecParameter{"", "path of a graph file"}};

constexpr std::array kinds = {
    TopologyKind{"torus", "torus:SIZES[,p=N]", "torus:4x3", "k-ary n-cube: a ring per dimension",
                 cube_parameters, &detail::make_torus},
    TopologyKind{"mesh", "mesh:SIZES[,p=N]", "mesh:4x3", "a line per dimension", cube_parameters,
                 &detail::make_mesh},
    TopologyKind{"cube", "cube:SIZES,wrap=BITS[,p=N]", "cube:4x4x3,wrap=101",
                 "ring or line, dimension by dimension", wrap_parameters, &detail::make_cube},
    TopologyKind{"tofu", "tofu:XxYxZ[,p=N]", "tofu:3x2x2", "6-D mesh/torus of the Tofu kind",
                 tofu_parameters, &detail::make_tofu},
    TopologyKind{"ring", "ring:N[,p=N]", "ring:5", "one ring", ring_parameters, &detail::make_ring},
    TopologyKind{"hypercube", "hypercube:N[,p=N]", "hypercube:4", "2^N routers",
                 hypercube_parameters, &detail::make_hypercube},
    TopologyKind{"fattree", "fattree:k=K|radix=R,levels=N[,taper=T]", "fattree:k=3,levels=3",
                 "fat tree, full or tapered", fat_tree_parameters, &detail::make_fat_tree},
    TopologyKind{"xgft", "xgft:m=SIZES,w=SIZES", "xgft:m=3x2x4,w=1x2x3",
                 "extended generalised fat tree", xgft_parameters, &detail::make_xgft},
    TopologyKind{"dragonfly", "dragonfly:a=N,h=N[,p=N][,g=N]", "dragonfly:a=4,h=2,p=2",
                 "groups of routers, all to all inside and between", dragonfly_parameters,
                 &detail::make_dragonfly},
    TopologyKind{"hyperx", "hyperx:SIZES[,p=N]", "hyperx:4x3", "every dimension fully connected",
                 cube_parameters, &detail::make_hyperx},
    TopologyKind{"complete", "complete:N[,p=N]", "complete:5", "every router to every other",
                 ring_parameters, &detail::make_complete},
    TopologyKind{"graph", "graph:FILE", "", "any graph, from a file", file_parameters,
                 &detail::make_from_file},
};

}  // namespace

std::span<const TopologyKind> topology_kinds() {
  return kinds;
}

const TopologyKind* find_kind(std::string_view name) {
  for (const TopologyKind& kind : kinds)
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
    for (const TopologyKind& k : kinds) names.push_back(k.name);
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
