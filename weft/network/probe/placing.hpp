// SPDX-License-Identifier: Apache-2.0
// Places hosts on switches and switches in a tree, from round trips. A round trip between hosts a
// and b is the sum of both hosts' own shares and the delays of all links between their switches. So
// for a base p, (R(p,a) + R(p,b) - R(a,b)) / 2 without p's own share is the depth at which the
// paths from p to a and to b diverge (their Gromov product). A host is inserted by walking down
// from the base: at each switch it is measured against each subtree. That takes as many
// measurements as switches have neighbours, for each level of the tree, whatever the number of
// hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <weft/network/probe/meter.hpp>
#include <weft/network/probe/survey.hpp>

namespace weft::probe {

struct TreeNode {
  int parent = -1;  // -1: the root, where the base is. -2: removed.
  double depth_ns = 0;
  std::vector<int> children;
  std::vector<std::uint32_t> hosts;
};

class Placing {
 public:
  using Bundle = std::vector<std::uint32_t>;  // Hosts that are believed to share a switch.

  Placing(Instruments& instruments, const Survey& survey);

  // Reports the number of placed hosts as it goes.
  void place_all(const std::function<void(std::size_t)>& placed);
  // Starts with the tree of an earlier probe.
  void start_with(const std::vector<TreeNode>& nodes);
  bool insert(const Bundle& bundle);  // Returns false when out of time.
  void remove(std::uint32_t host);
  // Measures switches that are hardly apart again and merges those that are one.
  void join_close();
  // Removes a switch that has no hosts and does not connect others.
  void drop_if_idle(int node);

  const std::vector<TreeNode>& nodes() const { return nodes_; }
  int node_of(std::uint32_t host) const { return node_of_[host]; }  // -1: not placed.
  double tree_ns(std::uint32_t a, std::uint32_t b) const;           // Distance in the tree.
  // Delays do not quite add up: a path may be shorter by this much.
  static double missing_ns(double way_ns) { return way_ns / 16; }
  const Survey& survey() const { return survey_; }
  void set_from_base(std::uint32_t host, double value) { survey_.from_base_ns[host] = value; }
  std::size_t contradictions() const { return contradictions_; }

 private:
  enum class Way { here, down, aside };
  struct Look {
    Way way = Way::here;
    int child = -1;
    double depth_ns = 0;
  };
  std::vector<Bundle> find_runs();
  double depth_of(const Bundle& bundle) const;
  double arm_ns(int node) const;  // Delay from the parent switch.
  // Tolerance: values this close to an end of such a path count as that end.
  double slack_ns(double way_ns) const;
  std::vector<std::uint32_t> hosts_below(int node, std::size_t count) const;
  enum class Ask { together, one_by_one };
  std::vector<double> products(const Bundle& bundle, std::span<const int> children,
                               std::size_t pairs, Ask how = Ask::together);
  Look confirm(int node, int child, const Bundle& bundle);
  std::vector<int> in_order(int node, const Bundle& bundle) const;
  Look look(int node, const Bundle& bundle, std::size_t pairs);
  Look judge(int node, int child, double product) const;
  void settle(int node, const Bundle& bundle);
  std::vector<Pair> between(int node, const Bundle& bundle);  // Some pairs to be measured.
  bool same_switch(int node, const Bundle& bundle);
  // Defined in joining.cpp.
  struct Twins {
    int node = -1, other = -1;
  };
  void join_idle();
  std::vector<Twins> find_twins() const;
  double limit_ns(const Twins& twins) const;
  bool join_twins();
  void join(const Twins& twins);
  int add_node(int parent, double depth_ns);
  int split(int child, double depth_ns);
  void put(int node, const Bundle& bundle);

  Instruments& instruments_;
  Survey survey_;
  std::vector<TreeNode> nodes_;
  std::vector<int> node_of_;
  std::size_t contradictions_ = 0;
  int known_ = 0;           // Nodes from an earlier finding, which may come from flows.
  std::uint32_t turn_ = 0;  // Varies the hosts that are measured.
  // Counts changes of positions; value at the last join_close().
  std::uint64_t changes_ = 0, joined_ = 0;
};

}  // namespace weft::probe
