// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/places.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>
#include <weft/real/locality/number_list.hpp>

namespace weft::locality {
namespace {

constexpr std::array<std::string_view, 4> binding_names = {"none", "core", "numa", "near-card"};

// Nodes with processors, and the offset of each one's processors among all: ranks are matched to
// nodes along this line, so that unequal nodes get ranks in proportion to their size.
struct Line {
  explicit Line(const HostLayout& layout) {
    for (const NumaNode& node : layout.nodes)
      if (!node.cores.empty()) {
        nodes.push_back(&node);
        begins.push_back(total);
        total += cpus_of(node).size();
      }
  }
  std::size_t centre_twice(std::size_t i) const {
    return begins[i] + (i + 1 < begins.size() ? begins[i + 1] : total);
  }
  // The node at the middle of this rank's part of the line.
  std::size_t node_under(std::size_t rank, std::size_t ranks) const {
    const std::size_t middle = (2 * rank + 1) * total / (2 * ranks);
    const auto after = std::upper_bound(begins.begin(), begins.end(), middle);
    return static_cast<std::size_t>(after - begins.begin()) - 1;
  }

  std::vector<const NumaNode*> nodes;
  std::vector<std::size_t> begins;
  std::size_t total = 0;
};

int distance_to_rails(const HostLayout& layout, int node, std::span<const RailSite> rails) {
  int least = -1;
  for (const RailSite& rail : rails) {
    const int one = distance(layout, node, rail.nodes);
    if (one >= 0 && (least < 0 || one < least)) least = one;
  }
  return least;
}

// The sum over all rails tells which of two nodes with a NIC has more of them.
std::int64_t sum_to_rails(const HostLayout& layout, int node, std::span<const RailSite> rails) {
  std::int64_t sum = 0;
  for (const RailSite& rail : rails) sum += std::max(0, distance(layout, node, rail.nodes));
  return sum;
}

// Nearest to the rails first; stable for equal distances.
void sort_by_rails(std::vector<const NumaNode*>& nodes, const HostLayout& layout,
                   std::span<const RailSite> rails) {
  const auto key = [&](const NumaNode* node) {
    return std::make_pair(distance_to_rails(layout, node->index, rails),
                          sum_to_rails(layout, node->index, rails));
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const auto* a, const auto* b) { return key(a) < key(b); });
}

// The home node is the one of these nodes that is nearest to the rails.
RankPlace place_on(std::vector<const NumaNode*> nodes, const HostLayout& layout,
                   std::span<const RailSite> rails) {
  RankPlace place;
  for (const NumaNode* node : nodes)
    for (const int cpu : cpus_of(*node)) place.cpus.push_back(cpu);
  std::sort(place.cpus.begin(), place.cpus.end());
  sort_by_rails(nodes, layout, rails);
  place.node = nodes.front()->index;
  return place;
}

void bind_to_nodes(const HostLayout& layout, std::size_t ranks, HostPlaces& places) {
  const Line line(layout);
  std::vector<std::vector<const NumaNode*>> dealt(ranks);
  if (ranks > 0 && ranks < line.nodes.size())
    for (std::size_t i = 0; i < line.nodes.size(); ++i)
      dealt[line.centre_twice(i) * ranks / (2 * line.total)].push_back(line.nodes[i]);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (dealt[rank].empty()) dealt[rank].push_back(line.nodes[line.node_under(rank, ranks)]);
    places.ranks.push_back(place_on(dealt[rank], layout, places.rails));
  }
}

void bind_near_nics(const HostLayout& layout, std::size_t ranks, HostPlaces& places) {
  Line line(layout);
  if (ranks >= line.nodes.size()) return bind_to_nodes(layout, ranks, places);
  sort_by_rails(line.nodes, layout, places.rails);
  line.nodes.resize(ranks);
  std::sort(line.nodes.begin(), line.nodes.end(),
            [](const auto* a, const auto* b) { return a->index < b->index; });
  for (const NumaNode* node : line.nodes)
    places.ranks.push_back(place_on({node}, layout, places.rails));
}

// Spreads ranks over the machine. If ranks outnumber cores, each gets a hardware thread.
void bind_to_cores(const HostLayout& layout, std::size_t ranks, HostPlaces& places) {
  std::vector<RankPlace> cores, threads;
  for (const NumaNode& node : layout.nodes)
    for (const Core& core : node.cores) {
      cores.push_back({node.index, core.cpus});
      for (const int cpu : core.cpus) threads.push_back({node.index, {cpu}});
    }
  const std::vector<RankPlace>& seats = ranks <= cores.size() ? cores : threads;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    places.ranks.push_back(seats[rank * seats.size() / ranks]);
  if (ranks > cores.size())
    places.reasons.push_back(fmt::format(
        "{} ranks are more than {} cores: each has a hardware thread", ranks, cores.size()));
}

Binding choose_binding(const HostLayout& layout, std::size_t ranks, std::optional<Binding> request,
                       std::vector<std::string>& reasons) {
  const Line line(layout);
  if (ranks > line.total) {
    reasons.push_back(
        fmt::format("not bound: {} ranks are more than {} hardware threads", ranks, line.total));
    return Binding::none;
  }
  if (request) {
    reasons.push_back(fmt::format("binding '{}' was asked for", to_text(*request)));
    return *request;
  }
  if (line.nodes.size() < 2) {
    reasons.push_back("not bound: there is one NUMA node, so all memory is near");
    return Binding::none;
  }
  reasons.push_back(
      fmt::format("bound to NUMA nodes: there are {}, and memory is fastest from "
                  "its own",
                  line.nodes.size()));
  return Binding::numa;
}

void explain_rails(const HostLayout& layout, const std::vector<RailSite>& rails,
                   std::vector<std::string>& reasons) {
  if (layout.nodes.size() < 2) return;
  for (const RailSite& rail : rails)
    if (rail.nodes.empty())
      reasons.push_back(
          fmt::format("{}: its NUMA node is not known; counts as near to all", rail.name));
    else if (rail.buffers >= 0)
      reasons.push_back(
          fmt::format("{}: buffers in node {}, next to the card", rail.name, rail.buffers));
}

// The nearest node that has memory.
int buffers_near(const HostLayout& layout, const std::vector<int>& nodes) {
  int best = -1, best_distance = 0;
  for (const NumaNode& node : layout.nodes) {
    const int away = distance(layout, node.index, nodes);
    if (away < 0 || node.memory.count == 0) continue;
    if (best < 0 || away < best_distance) {
      best = node.index;
      best_distance = away;
    }
  }
  return best;
}

}  // namespace

std::string_view to_text(Binding binding) {
  return binding_names[static_cast<std::size_t>(binding)];
}

Result<Binding> parse_binding(std::string_view text) {
  for (std::size_t i = 0; i < binding_names.size(); ++i)
    if (text == binding_names[i]) return static_cast<Binding>(i);
  return Error::call("unknown binding '" + std::string(text) + "'" + suggest(text, binding_names));
}

RailSite locate_rail(const HostLayout& layout, const std::string& name) {
  RailSite site;
  site.name = name;
  if (const Nic* card = find_nic(layout, name)) site.nodes = card->nodes;
  std::erase_if(site.nodes, [&](int node) { return find_node(layout, node) == nullptr; });
  site.buffers = buffers_near(layout, site.nodes);
  return site;
}

std::vector<RailSite> locate_rails(const HostLayout& layout, std::span<const Interface> rails) {
  std::vector<RailSite> sites;
  for (const Interface& rail : rails) {
    RailSite site = locate_rail(layout, rail.name);
    if (site.nodes.empty() && layout.nodes.size() > 1 && find_node(layout, rail.node) != nullptr) {
      site.nodes = {rail.node};
      site.buffers = buffers_near(layout, site.nodes);
    }
    site.speed = rail.speed;
    sites.push_back(std::move(site));
  }
  return sites;
}

HostPlaces decide_places(const HostLayout& layout, std::vector<RailSite> rails, int ranks,
                         std::optional<Binding> request) {
  WEFT_CHECK(ranks >= 0);
  const auto count = static_cast<std::size_t>(ranks);
  HostPlaces places;
  places.rails = std::move(rails);
  places.binding = choose_binding(layout, count, request, places.reasons);
  switch (places.binding) {
    case Binding::none:
      places.ranks.resize(count);
      break;
    case Binding::core:
      bind_to_cores(layout, count, places);
      break;
    case Binding::numa:
      bind_to_nodes(layout, count, places);
      break;
    case Binding::near_nic:
      bind_near_nics(layout, count, places);
      break;
  }
  explain_rails(layout, places.rails, places.reasons);
  return places;
}

}  // namespace weft::locality
