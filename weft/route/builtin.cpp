// SPDX-License-Identifier: Apache-2.0
// The table of policies: command line, listing and conformance test all read it.
#include <array>
#include <bit>
#include <string>
#include <vector>

#include <weft/base/text.hpp>
#include <weft/route/families.hpp>
#include <weft/route/legs.hpp>
#include <weft/route/policy.hpp>

namespace weft {
namespace {

using namespace detail;

constexpr std::array table = {
    PolicyEntry{"dor", "dimension order, the shorter way round a ring", &vcs_dor, &make_dor},
    PolicyEntry{"dor-balanced", "dimension order on a torus, VC halves evenly loaded",
                &vcs_dor_balanced, &make_dor_balanced},
    PolicyEntry{"xy-yx", "dimension order up or down on a mesh, by coin at the source", &vcs_xy_yx,
                &make_xy_yx},
    PolicyEntry{"xy-yx-adaptive", "as xy-yx, but the order whose first output has more room",
                &vcs_xy_yx, &make_xy_yx_adaptive},
    PolicyEntry{"planar-adaptive", "x or y on a 2-D mesh, whichever has more room",
                &vcs_planar_adaptive, &make_planar_adaptive},
    PolicyEntry{"min-adaptive", "any shortest direction, by room; dimension order as escape",
                &vcs_min_adaptive, &make_min_adaptive},
    PolicyEntry{"min-adaptive-escape-first",
                "as min-adaptive with the escape tried first (BookSim)", &vcs_min_adaptive,
                &make_min_adaptive_escape_first},
    PolicyEntry{"minimal", "shortest way by local, global, local cables or dimension by dimension",
                &vcs_minimal, &make_minimal},
    PolicyEntry{"valiant", "to a random router, then to the destination", &vcs_two_legs,
                &make_valiant},
    PolicyEntry{"ugal-l", "straight or by a random router, by local queue length times hops",
                &vcs_two_legs, &make_ugal_l},
    PolicyEntry{"source-up", "fat tree: up by the source's number (s-mod-k)", &vcs_fat_tree,
                &make_source_up},
    PolicyEntry{"dest-down", "fat tree: up by the destination's number (d-mod-k)", &vcs_fat_tree,
                &make_dest_down},
    PolicyEntry{"adaptive-up", "fat tree: up where least is queued", &vcs_fat_tree,
                &make_adaptive_up},
    PolicyEntry{"up-down", "shortest up*/down* path on any graph", &vcs_up_down, &make_up_down},
    PolicyEntry{"shortest", "shortest path on any graph, VC rising with each hop", &vcs_shortest,
                &make_shortest},
};

const PolicyEntry* find_policy(std::string_view name) {
  for (const PolicyEntry& entry : table)
    if (entry.name == name) return &entry;
  return nullptr;
}

std::string unknown(std::string_view name) {
  std::vector<std::string_view> known;
  known.reserve(table.size());
  for (const PolicyEntry& entry : table) known.push_back(entry.name);
  return "unknown routing '" + std::string(name) + "'" + suggest(name, known);
}

std::string misfit(std::string_view name, const Topology& topology) {
  std::string fitting;
  for (const PolicyEntry& entry : table)
    if (entry.vcs_needed(topology) > 0)
      fitting += (fitting.empty() ? "" : ", ") + std::string(entry.name);
  return "routing '" + std::string(name) + "' does not fit " + topology.name +
         "; fitting: " + fitting;
}

}  // namespace

bool detail::single_vcs(const LegMasks& masks, unsigned classes_used) {
  for (std::size_t c = 0; c < masks.size(); ++c)
    if (((classes_used >> c) & 1u) != 0 && std::popcount(masks[c]) != 1) return false;
  return true;
}

std::span<const PolicyEntry> builtin_policies() {
  return table;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Topology& topology,
                                            int vcs) {
  const PolicyEntry* entry = find_policy(name);
  if (entry == nullptr) return Error::input(unknown(name));
  const int needed = entry->vcs_needed(topology);
  if (needed == 0) return Error::input(misfit(name, topology));
  if (vcs > max_vcs)
    return Error::input("at most " + std::to_string(max_vcs) + " VCs are supported, " +
                        std::to_string(vcs) + " given; set vcs = " + std::to_string(max_vcs) +
                        " or less");
  if (vcs < needed) {
    const std::string count = std::to_string(needed);
    return Error::input("routing '" + std::string(name) + "' on " + topology.name +
                        " needs at least " + count + (needed == 1 ? " VC" : " VCs") +
                        " to be free of deadlock, " + std::to_string(vcs) +
                        " given; set vcs = " + count);
  }
  return entry->make(topology, vcs);
}

std::string default_routing(const Topology& topology) {
  if (std::holds_alternative<Cube>(topology.shape)) return "dor";
  if (std::holds_alternative<FatTree>(topology.shape)) return "dest-down";
  if (std::holds_alternative<Irregular>(topology.shape)) return "up-down";
  return "minimal";
}

int vcs_needed(std::string_view routing, const Topology& topology) {
  for (const PolicyEntry& entry : builtin_policies())
    if (entry.name == routing) return entry.vcs_needed(topology);
  return 0;
}

}  // namespace weft
