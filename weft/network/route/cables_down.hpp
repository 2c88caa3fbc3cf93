// SPDX-License-Identifier: Apache-2.0
// What cables that are down change in the routing, told to the user: otherwise a run with and one
// without them would be compared as if only the cables differed.
#pragma once

#include <string>
#include <string_view>

#include <weft/network/topo/topology.hpp>

namespace weft {

struct RoutingInUse {
  std::string_view name;
  bool given = false;      // Not by default.
  int vcs = 0;             // Of the machine,
  bool vcs_given = false;  // not by default.
};
// One line: the routing is another one, or goes by other paths, than with all cables up, or may
// meet a cable that is down. Empty: none of these.
std::string explain_other_routing(const Topology& topology, const RoutingInUse& routing);

namespace detail {
// Does a routing that fits any graph take the paths of the network's family? Others: no.
bool takes_family_paths(std::string_view routing, const Topology& topology);
// Is it sure to go round the cables that are down?
bool goes_round(std::string_view routing, const Topology& topology);
}  // namespace detail

}  // namespace weft
