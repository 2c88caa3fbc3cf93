// SPDX-License-Identifier: Apache-2.0
// A finding as files and text: for the other sub-commands, for programs, for people.
#pragma once

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::probe {

std::string to_json(const Finding& finding);
// `name` stands for the file in errors.
Result<Finding> from_json(std::string_view text, const std::string& name);

// A network as weft net, sim and map read it: the graph, and the description that names the graph
// file and gives each class of links its rate and delay. Hosts without a place are left out.
struct NetworkText {
  std::string graph, description;
};
NetworkText to_network(const Finding& finding, const std::string& graph_file);

// A line 'HOST SWITCH' for each host.
std::string to_groups(const Finding& finding);

// For people; all of it has some lines per switch and link.
std::string to_table(const Finding& finding);

}  // namespace weft::probe
