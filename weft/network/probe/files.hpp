// SPDX-License-Identifier: Apache-2.0
// Writes a finding as files and text: for other sub-commands, for programs, for people.
#pragma once

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::probe {

std::string to_json(const Finding& finding);
// `name` is the file name for errors.
Result<Finding> from_json(std::string_view text, const std::string& name);

// A network as weft net, sim and map read it: the graph, and a description that names the graph
// file and gives each class of links its rate and delay. Unplaced hosts are left out. A link whose
// rate was not measured has that of a host, and a comment that says so; an error if that was not
// measured either.
struct NetworkText {
  std::string graph, description;
};
Result<NetworkText> to_network(const Finding& finding, const std::string& graph_file);
std::string to_graph(const Finding& finding);

// One line 'HOST SWITCH' per host.
std::string to_groups(const Finding& finding);

// A summary for people, with a few lines per switch and link.
std::string to_table(const Finding& finding);

}  // namespace weft::probe
