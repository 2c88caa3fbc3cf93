// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/plane_policy.hpp"

#include <algorithm>
#include <utility>

#include <weft/network/topo/planes.hpp>

namespace weft::detail {
namespace {

using Policies = std::vector<std::unique_ptr<Policy>>;

// Lines do not leave a copy.
class PlaneLines final : public Lines {
 public:
  PlaneLines(const Planes& planes, std::vector<const Lines*> lines)
      : routers_(planes.routers), lines_(std::move(lines)) {}

  LineKind kind() const override { return lines_.front()->kind(); }
  int count() const override { return lines_.front()->count(); }
  int ports() const override { return lines_.front()->ports(); }
  int width(int port, int line) const override { return lines_.front()->width(port, line); }
  Line line(RouterId router, int port, int line) const override {
    const std::size_t plane = lines_.size() == 1 ? 0 : router.index / routers_;
    return lines_[plane]->line(RouterId(router.index % routers_), port, line);
  }
  int behind(int port) const override { return lines_.front()->behind(port); }
  bool starts_full() const override { return lines_.front()->starts_full(); }

 private:
  std::uint32_t routers_;
  std::vector<const Lines*> lines_;
};

class PlanePolicy final : public Policy {
 public:
  // One policy for all copies, or one for each.
  PlanePolicy(std::unique_ptr<RoutedParts> parts, const Planes& planes, Policies policies)
      : parts_(std::move(parts)), planes_(planes), policies_(std::move(policies)) {
    std::vector<const Lines*> lines;
    for (const auto& policy : policies_) lines.push_back(policy->lines());
    if (lines.front() != nullptr) lines_ = std::make_unique<PlaneLines>(planes_, std::move(lines));
  }

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    const std::uint32_t plane = here.index / planes_.routers;
    const std::uint32_t first = plane * planes_.routers;
    if (flight.destination.index - first >= planes_.routers) return;  // In another copy: no way.
    Flight inner = flight;
    inner.destination = RouterId(flight.destination.index - first);
    inner.source_node = NodeId(planes_.end[flight.source_node.index]);
    inner.destination_node = NodeId(planes_.end[flight.destination_node.index]);
    policies_[policies_.size() == 1 ? 0 : plane]->next(RouterId(here.index - first), inner, view,
                                                       out);
  }

  PolicyFacts facts() const override {
    PolicyFacts all = policies_.front()->facts();
    for (const auto& policy : policies_) {
      const PolicyFacts one = policy->facts();
      all.choices_max = std::max(all.choices_max, one.choices_max);
      all.hops_max = std::max(all.hops_max, one.hops_max);
      all.asks_source = all.asks_source || one.asks_source;
      all.looks = all.looks || one.looks;
      all.in_order = all.in_order && one.in_order;
      all.one_path = all.one_path && one.one_path;
      all.again = all.again || one.again;
      all.returns = all.returns || one.returns;
      all.alike = all.alike && one.alike;
    }
    return all;
  }

  const Lines* lines() const override { return lines_.get(); }

 private:
  std::unique_ptr<RoutedParts> parts_;  // Which the policies look at.
  const Planes& planes_;                // Of the topology, which outlives the policy.
  Policies policies_;
  std::unique_ptr<PlaneLines> lines_;
};

}  // namespace

RoutedParts::RoutedParts(const Topology& topology) {
  const Planes* const planes = topology.shape->planes();
  if (planes == nullptr) {
    parts_.push_back(&topology);
    return;
  }
  const int different = topology.graph.all_up() ? 1 : planes->count;
  for (int p = 0; p < different; ++p) {
    copies_.push_back(std::make_unique<Topology>(plane_of(topology, p)));
    parts_.push_back(copies_.back().get());
  }
}

Result<std::unique_ptr<Policy>> make_plane_policy(std::string_view routing,
                                                  const Topology& topology, int vcs) {
  auto parts = std::make_unique<RoutedParts>(topology);
  Policies policies;
  for (const Topology* const part : parts->all()) {
    auto made = make_policy(routing, *part, vcs);
    if (!made) return made;
    policies.push_back(*std::move(made));
  }
  return std::unique_ptr<Policy>(std::make_unique<PlanePolicy>(
      std::move(parts), *topology.shape->planes(), std::move(policies)));
}

}  // namespace weft::detail
