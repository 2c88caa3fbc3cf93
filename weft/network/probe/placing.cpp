// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/placing.hpp"

#include <algorithm>

#include <weft/base/check.hpp>
#include <weft/network/probe/levels.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t asked_at_once = 8;
constexpr std::size_t confirming_pairs = 3;
constexpr int tries_before_a_switch = 3;

}  // namespace

Placing::Placing(Instruments& instruments, const Survey& survey)
    : instruments_(instruments), survey_(survey), node_of_(survey.from_base_ns.size(), -1) {
  nodes_.push_back({});
  put(0, survey_.base);
}

void Placing::start_with(const std::vector<TreeNode>& nodes) {
  nodes_ = nodes;
  known_ = static_cast<int>(nodes_.size());
  std::fill(node_of_.begin(), node_of_.end(), -1);
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    for (const std::uint32_t host : nodes_[node].hosts) node_of_[host] = static_cast<int>(node);
}

// Host names are mostly in order: neighbours in the list often share a switch, which one
// measurement confirms. Hosts at different distances from the base cannot share one.
std::vector<Placing::Bundle> Placing::find_runs() {
  std::vector<Bundle> runs;
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> left;
  for (std::uint32_t host = 0; host < node_of_.size(); ++host)
    if (node_of_[host] < 0 && survey_.from_base_ns[host] >= 0) left.push_back(host);
  for (std::size_t i = 0; i + 1 < left.size(); ++i) {
    const double apart = survey_.from_base_ns[left[i]] - survey_.from_base_ns[left[i + 1]];
    if (std::abs(apart) <= 2 * survey_.slack_ns()) pairs.push_back({left[i], left[i + 1]});
  }
  const std::vector<double> times = instruments_.round_trips_ns(pairs, survey_.same_ns);
  std::size_t next = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    bool joined = false;
    if (i > 0 && next < pairs.size() && pairs[next].to == left[i]) {
      joined = times[next] >= 0 && times[next] < survey_.same_ns;
      ++next;
    }
    if (!joined) runs.emplace_back();
    runs.back().push_back(left[i]);
  }
  // Large runs first: they make reliable switches to compare the others with.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Bundle& a, const Bundle& b) { return a.size() > b.size(); });
  return runs;
}

void Placing::place_all(const std::function<void(std::size_t)>& placed) {
  std::size_t count = survey_.base.size();
  for (const Bundle& run : find_runs()) {
    if (!insert(run)) return;
    placed(count += run.size());
  }
}

double Placing::depth_of(const Bundle& bundle) const {
  std::vector<double> values;
  for (const std::uint32_t host : bundle) values.push_back(survey_.from_base_ns[host]);
  return median(std::move(values)) - 2 * survey_.host_ns;
}

// A machine that a packet has just woken forwards the next one sooner, so long paths get more
// tolerance. But at the far end of a long link switches are as close to each other as elsewhere.
double Placing::slack_ns(double way_ns) const {
  return std::max(survey_.slack_ns(), std::min(missing_ns(way_ns), survey_.slack_most_ns()));
}

double Placing::arm_ns(int node) const {
  const TreeNode& here = nodes_[static_cast<std::size_t>(node)];
  return here.parent < 0 ? 0
                         : here.depth_ns - nodes_[static_cast<std::size_t>(here.parent)].depth_ns;
}

// Some hosts of a subtree, from as many switches as possible: one unusual host must not represent
// all.
std::vector<std::uint32_t> Placing::hosts_below(int node, std::size_t count) const {
  std::vector<int> open = {node};
  std::vector<const TreeNode*> found;
  for (std::size_t i = 0; i < open.size() && found.size() < count; ++i) {
    const TreeNode& here = nodes_[static_cast<std::size_t>(open[i])];
    if (!here.hosts.empty()) found.push_back(&here);
    open.insert(open.end(), here.children.begin(), here.children.end());
  }
  std::vector<std::uint32_t> hosts;
  for (std::size_t i = 0; hosts.size() < count && i < count; ++i) {
    for (const TreeNode* at : found) {
      if (i >= at->hosts.size() || hosts.size() == count) continue;
      hosts.push_back(at->hosts[(turn_ + i) % at->hosts.size()]);
    }
  }
  return hosts;
}

std::vector<double> Placing::products(const Bundle& bundle, std::span<const int> children,
                                      std::size_t pairs, Ask how) {
  ++turn_;
  std::vector<Pair> asked;
  std::vector<std::size_t> child_of;
  for (std::size_t c = 0; c < children.size(); ++c) {
    const auto hosts = hosts_below(children[c], pairs);
    for (std::size_t i = 0; i < pairs && !hosts.empty(); ++i) {
      if (i >= hosts.size() && i >= bundle.size()) break;
      asked.push_back({bundle[(turn_ + asked.size()) % bundle.size()], hosts[i % hosts.size()]});
      child_of.push_back(c);
    }
  }
  const std::vector<double> times =
      how == Ask::together ? instruments_.round_trips_ns(asked) : instruments_.one_by_one_ns(asked);
  std::vector<std::vector<double>> values(children.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (times[i] < 0) continue;
    const double sum = survey_.from_base_ns[asked[i].from] + survey_.from_base_ns[asked[i].to];
    values[child_of[i]].push_back((sum - times[i]) / 2 - survey_.host_ns);
  }
  std::vector<double> out;
  for (auto& list : values) out.push_back(median(std::move(list)));
  return out;
}

// The child to which a neighbour in the list of hosts belongs comes first, then those with a switch
// at the right distance.
std::vector<int> Placing::in_order(int node, const Bundle& bundle) const {
  // If a link adds no delay, delays cannot separate its two switches: look beyond it.
  std::vector<int> children, open = {node};
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const int child : nodes_[static_cast<std::size_t>(open[i])].children) {
      const double beyond = nodes_[static_cast<std::size_t>(child)].depth_ns -
                            nodes_[static_cast<std::size_t>(node)].depth_ns;
      (beyond <= survey_.slack_ns() ? open : children).push_back(child);
    }
  }
  const double depth = depth_of(bundle);
  std::stable_partition(children.begin(), children.end(), [&](int child) {
    const TreeNode& below = nodes_[static_cast<std::size_t>(child)];
    return !below.children.empty() || std::abs(below.depth_ns - depth) <= 2 * survey_.slack_ns();
  });
  for (const std::uint32_t neighbour : {bundle.front() - 1, bundle.back() + 1}) {
    if (neighbour >= node_of_.size()) continue;
    for (int at = node_of_[neighbour]; at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      const auto found = std::find(children.begin(), children.end(), at);
      if (found != children.end()) std::rotate(children.begin(), found, found + 1);
    }
  }
  return children;
}

Placing::Look Placing::judge(int node, int child, double product) const {
  const double from = nodes_[static_cast<std::size_t>(node)].depth_ns;
  const double to = nodes_[static_cast<std::size_t>(child)].depth_ns;
  const double slack = slack_ns(to - from);
  if (product <= from + slack) return {};
  if (product >= to - slack) return {Way::down, child, product};
  return {Way::aside, child, product};
}

// Concurrent measurements disturb each other, so that paths seem to diverge earlier than they do. A
// switch in the middle of a link is created only if one-by-one measurements agree.
Placing::Look Placing::confirm(int node, int child, const Bundle& bundle) {
  const int only[] = {child};
  Look found = judge(node, child, products(bundle, only, confirming_pairs).front());
  std::vector<double> alone;
  for (int i = 0; i < tries_before_a_switch && found.way == Way::aside; ++i) {
    alone.push_back(products(bundle, only, confirming_pairs, Ask::one_by_one).front());
    found = judge(node, child, median(alone));
  }
  return found;
}

// Which of the children do the hosts lie below?
Placing::Look Placing::look(int node, const Bundle& bundle, std::size_t pairs) {
  const std::vector<int> children = in_order(node, bundle);
  const std::size_t step = std::min(asked_at_once, bundle.size());
  for (std::size_t first = 0; first < children.size(); first += step) {
    const auto some = std::span(children).subspan(first, std::min(step, children.size() - first));
    const std::vector<double> parting = products(bundle, some, pairs);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (judge(node, some[i], parting[i]).way == Way::here) continue;
      const Look sure = confirm(node, some[i], bundle);
      if (sure.way != Way::here) return sure;
    }
    if (instruments_.over()) break;
  }
  return {};
}

bool Placing::insert(const Bundle& bundle) {
  int node = 0;
  const double depth = depth_of(bundle);
  for (;;) {
    if (instruments_.over()) return false;
    // As close to the base as this switch: everything below it is farther.
    if (depth <= nodes_[static_cast<std::size_t>(node)].depth_ns + survey_.slack_ns()) break;
    Look found = look(node, bundle, 1);
    // A disturbed measurement says "not below these"; measure again before creating a switch.
    if (found.way == Way::here) found = look(node, bundle, confirming_pairs);
    if (instruments_.over()) return false;  // The question was not repeated as often as needed.
    if (found.way == Way::here) break;
    if (found.way == Way::aside) {
      node = split(found.child, found.depth_ns);
      break;
    }
    node = found.child;
  }
  settle(node, bundle);
  return true;
}

// The hosts branch off at this node.
void Placing::settle(int node, const Bundle& bundle) {
  const double here = nodes_[static_cast<std::size_t>(node)].depth_ns;
  const double depth = depth_of(bundle);
  const bool populated = !nodes_[static_cast<std::size_t>(node)].hosts.empty();
  const bool fits = depth <= here + survey_.slack_ns();
  if (!populated && depth <= here + slack_ns(arm_ns(node))) return put(node, bundle);
  if (fits || depth <= here + 2 * survey_.slack_ns()) {
    if (populated && same_switch(node, bundle)) return put(node, bundle);
    if (fits) ++contradictions_;
  }
  put(add_node(node, std::max(depth, here)), bundle);
}

std::vector<Pair> Placing::between(int node, const Bundle& bundle) {
  const std::vector<std::uint32_t>& hosts = nodes_[static_cast<std::size_t>(node)].hosts;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < confirming_pairs; ++i) {
    const Pair pair{bundle[(turn_ + i) % bundle.size()], hosts[(turn_ + 2 * i) % hosts.size()]};
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
  }
  ++turn_;
  return pairs;
}

bool Placing::same_switch(int node, const Bundle& bundle) {
  return median_below(instruments_.round_trips_ns(between(node, bundle)), survey_.same_ns);
}

int Placing::add_node(int parent, double depth_ns) {
  const int made = static_cast<int>(nodes_.size());
  nodes_.push_back({parent, depth_ns, {}, {}});
  nodes_[static_cast<std::size_t>(parent)].children.push_back(made);
  return made;
}

// Inserts a switch between a child and its parent.
int Placing::split(int child, double depth_ns) {
  const int parent = nodes_[static_cast<std::size_t>(child)].parent;
  WEFT_CHECK(parent >= 0);
  auto& siblings = nodes_[static_cast<std::size_t>(parent)].children;
  siblings.erase(std::find(siblings.begin(), siblings.end(), child));
  const int made = add_node(parent, depth_ns);
  nodes_[static_cast<std::size_t>(made)].children.push_back(child);
  nodes_[static_cast<std::size_t>(child)].parent = made;
  return made;
}

void Placing::put(int node, const Bundle& bundle) {
  ++changes_;
  auto& hosts = nodes_[static_cast<std::size_t>(node)].hosts;
  hosts.insert(hosts.end(), bundle.begin(), bundle.end());
  for (const std::uint32_t host : bundle) node_of_[host] = node;
}

void Placing::remove(std::uint32_t host) {
  const int at = node_of_[host];
  if (at < 0) return;
  ++changes_;
  node_of_[host] = -1;
  auto& hosts = nodes_[static_cast<std::size_t>(at)].hosts;
  hosts.erase(std::find(hosts.begin(), hosts.end(), host));
  drop_if_idle(at);
}

void Placing::drop_if_idle(int at) {
  while (at > 0 && nodes_[static_cast<std::size_t>(at)].hosts.empty()) {
    TreeNode& node = nodes_[static_cast<std::size_t>(at)];
    if (node.children.size() > 1 || node.parent < 0) break;
    auto& siblings = nodes_[static_cast<std::size_t>(node.parent)].children;
    siblings.erase(std::find(siblings.begin(), siblings.end(), at));
    const int parent = node.parent;
    if (node.children.size() == 1) {
      siblings.push_back(node.children[0]);
      nodes_[static_cast<std::size_t>(node.children[0])].parent = parent;
      node.children.clear();
    }
    node.parent = -2;
    at = parent;
  }
}

double Placing::tree_ns(std::uint32_t a, std::uint32_t b) const {
  const auto node = [&](int at) -> const TreeNode& { return nodes_[static_cast<std::size_t>(at)]; };
  std::vector<int> above;
  for (int at = node_of_[a]; at >= 0; at = node(at).parent) above.push_back(at);
  int meet = node_of_[b];
  while (std::find(above.begin(), above.end(), meet) == above.end()) meet = node(meet).parent;
  return 2 * survey_.host_ns + node(node_of_[a]).depth_ns + node(node_of_[b]).depth_ns -
         2 * node(meet).depth_ns;
}

}  // namespace weft::probe
