// SPDX-License-Identifier: Apache-2.0
// The path that a policy gives a packet of an idle network: for code that plans with routes before
// anything is sent.
#pragma once  // Public, for policies: stays within 0.1.

#include <string>
#include <vector>

#include <weft/network/route/policy.hpp>

namespace weft {

// Puts the links from one node to another into `links`: always the first choice, random bits 0.
// False: a cable on the only path is down. Where a pair has one path, this is it.
bool follow_path(const Policy& policy, const Graph& graph, NodeId from, NodeId to,
                 std::vector<LinkId>& links);

// Says why a packet at a router has no way on: which cable is down, and which policies go round it.
std::string explain_no_way(const Topology& topology, RouterId here, NodeId to);

}  // namespace weft
