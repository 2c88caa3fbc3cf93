// SPDX-License-Identifier: Apache-2.0
// Splits a message whose memory is not near all rails.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {
namespace {

// The rails behind one link, as seen from the memory.
struct Link {
  double rate_byte_per_s = 0;
  int distance = 0;
  std::vector<std::size_t> rails;
};

// The node next to a NIC that is nearest to the memory; data takes this path.
int nearest(const HostLayout& layout, int memory_node, const RailSite& rail) {
  return *std::min_element(rail.nodes.begin(), rail.nodes.end(), [&](int a, int b) {
    return distance(layout, memory_node, a) < distance(layout, memory_node, b);
  });
}

// Nodes of different sockets share the link between the sockets; within a socket each pair has its
// own.
std::pair<int, int> link_to(const HostLayout& layout, int memory_node, int rail_node) {
  const NumaNode* from = find_node(layout, memory_node);
  const NumaNode* to = find_node(layout, rail_node);
  if (to != nullptr && from->socket != to->socket) return {1, to->socket};
  return {0, rail_node};
}

std::map<std::pair<int, int>, Link> far_links(std::span<const double> rates, int memory_node,
                                              const HostLayout& layout,
                                              std::span<const RailSite> rails) {
  std::map<std::pair<int, int>, Link> links;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (rails[i].nodes.empty()) continue;
    const int node = nearest(layout, memory_node, rails[i]);
    if (node == memory_node) continue;
    Link& link = links[link_to(layout, memory_node, node)];
    link.rate_byte_per_s += rates[i];
    link.distance = std::max(link.distance, distance(layout, memory_node, node));
    link.rails.push_back(i);
  }
  return links;
}

}  // namespace

std::vector<double> lower_rates(std::span<const double> rates_byte_per_s, int memory_node,
                                const HostLayout& layout, std::span<const RailSite> rails) {
  WEFT_CHECK(rates_byte_per_s.size() == rails.size());
  std::vector<double> rates;
  for (const double rate : rates_byte_per_s) rates.push_back(rate > 0 ? rate : 0);
  if (find_node(layout, memory_node) == nullptr) return rates;
  for (const auto& [key, link] : far_links(rates, memory_node, layout, rails)) {
    const double most = layout.memory_rate.in_byte_per_s() *
                        distance(layout, memory_node, memory_node) / link.distance;
    if (link.rate_byte_per_s <= most) continue;
    for (const std::size_t rail : link.rails) rates[rail] *= most / link.rate_byte_per_s;
  }
  return rates;
}

std::vector<double> weigh_rails(std::span<const double> rates_byte_per_s, int memory_node,
                                const HostLayout& layout, std::span<const RailSite> rails) {
  std::vector<double> weights = lower_rates(rates_byte_per_s, memory_node, layout, rails);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  // All rates are unknown: equal weights.
  for (double& weight : weights)
    weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(weights.size());
  return weights;
}

}  // namespace weft::locality
