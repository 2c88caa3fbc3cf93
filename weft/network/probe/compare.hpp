// SPDX-License-Identifier: Apache-2.0
// Compares a finding with a known network. Names of switches do not matter: two trees are equal if
// their links separate the hosts in the same ways.
#pragma once

#include <string>
#include <vector>

#include <weft/network/probe/finding.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::probe {

struct Comparison {
  bool groups = false;  // The hosts of each switch are right.
  bool tree = false;    // The links between switches are right too.
  bool truth_is_tree = true;
  std::vector<std::string> differences;  // The first few.

  bool right() const { return groups && (tree || !truth_is_tree); }
};

// Host i of the finding is node i of the truth.
Comparison compare(const Finding& finding, const Topology& truth);

}  // namespace weft::probe
