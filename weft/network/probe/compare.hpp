// SPDX-License-Identifier: Apache-2.0
// A finding beside a network whose truth is known. Names of switches do not matter: two trees are
// the same if their links part the hosts in the same ways.
#pragma once

#include <string>
#include <vector>

#include <weft/network/probe/finding.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::probe {

struct Comparison {
  bool groups = false;  // Who shares a switch is right.
  bool tree = false;    // And so is how switches are joined.
  bool truth_is_tree = true;
  std::vector<std::string> differences;  // Some of them.

  bool right() const { return groups && (tree || !truth_is_tree); }
};

// Host i of the finding is node i of the truth.
Comparison compare(const Finding& finding, const Topology& truth);

}  // namespace weft::probe
