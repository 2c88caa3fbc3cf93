// SPDX-License-Identifier: Apache-2.0
// Hosts on switches and switches in a tree, from round trips. A round trip between hosts a and b is
// what each of them costs, and what every link between their switches costs. So for a base p the
// product (R(p,a) + R(p,b) - R(a,b)) / 2, less p's own part, is the depth at which the ways from p
// to a and to b part. A host is put into the tree by going down from the base: at each switch it
// is asked with which of the subtrees it goes on. That takes as many measurements as switches have
// neighbours, for each level of the tree, whatever the number of hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <weft/network/probe/meter.hpp>
#include <weft/network/probe/survey.hpp>

namespace weft::probe {

struct TreeNode {
  int parent = -1;  // -1: the root, where the base is. -2: no longer there.
  double depth_ns = 0;
  std::vector<int> children;
  std::vector<std::uint32_t> hosts;
};

class Placing {
 public:
  using Bundle = std::vector<std::uint32_t>;  // Hosts that are believed to share a switch.

  Placing(Instruments& instruments, const Survey& survey);

  // Tells in between how many hosts are placed.
  void place_all(const std::function<void(std::size_t)>& placed);
  // Hosts that another probe has found on one switch.
  void start_with(const std::vector<TreeNode>& nodes);
  bool insert(const Bundle& bundle);  // False: out of time.
  void remove(std::uint32_t host);
  // Switches that are hardly apart are asked again whether they are one.
  void join_close();
  // A switch without hosts that does not join others is none.
  void drop_if_idle(int node);

  const std::vector<TreeNode>& nodes() const { return nodes_; }
  int node_of(std::uint32_t host) const { return node_of_[host]; }  // -1: not placed.
  double tree_ns(std::uint32_t a, std::uint32_t b) const;           // What the tree says.
  // Delays do not quite add up: so much may be missing of a way.
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
  double arm_ns(int node) const;  // From the switch above it.
  // What differs by no more from an end of such a way is that end.
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
  std::vector<Pair> between(int node, const Bundle& bundle);  // Some, to be asked.
  bool same_switch(int node, const Bundle& bundle);
  // joining.cpp
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
  int known_ = 0;           // Nodes from an earlier finding, which flows may have told of.
  std::uint32_t turn_ = 0;  // So that not always the same hosts are asked.
  std::uint64_t changes_ = 0, joined_ = 0;  // Of who is where; as of the last join_close().
};

}  // namespace weft::probe
