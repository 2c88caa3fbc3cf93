// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/cables_down.hpp"

#include <weft/network/route/policy.hpp>
#include <weft/network/topo/facts.hpp>

namespace weft {
namespace {

std::string_view name_of(std::string_view routing) {
  return routing.substr(0, routing.find(':'));
}

std::string vcs_text(int vcs) {
  return " (" + std::to_string(vcs) + (vcs == 1 ? " VC)" : " VCs)");
}

}  // namespace

std::string explain_other_routing(const Topology& topology, const RoutingInUse& routing) {
  if (topology.graph.all_up()) return "";
  Topology intact = topology;
  intact.graph = Graph::with_all_up(std::move(intact.graph));
  const int limit = routing.vcs_given ? routing.vcs : max_vcs;
  const std::string before(routing.given ? std::string(routing.name)
                                         : default_routing(intact, limit));
  const int vcs_before = routing.vcs_given ? routing.vcs : vcs_usual(before, intact);
  // Numbers of VCs that are the same need no mention.
  const bool same_vcs = vcs_before == routing.vcs;
  const std::string vcs_then = same_vcs ? "" : vcs_text(vcs_before);
  const std::string vcs_now = same_vcs ? "" : vcs_text(routing.vcs);
  if (name_of(before) != name_of(routing.name))
    return "routing is " + std::string(routing.name) + vcs_now + " instead of " + before +
           vcs_then + ", because cables are down";
  if (vcs_needed(routing.name, topology) > 0 && !detail::goes_round(routing.name, topology))
    return "routing " + std::string(routing.name) +
           " ends the run when a packet meets a cable that is down; these go round: " +
           routings_that_reach_all(topology);
  if (!detail::takes_family_paths(before, intact) ||
      detail::takes_family_paths(routing.name, topology))
    return "";
  return "routing " + std::string(routing.name) + " takes shortest paths in layers of VCs" +
         vcs_now + " instead of the paths of " + topology.name + vcs_then +
         ", because cables are down; a comparison with all cables up compares these, too";
}

}  // namespace weft
