// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace weft::map {

namespace {

constexpr std::uint32_t row_max = 64;     // Nodes, where rows mean nothing.
constexpr std::uint32_t panel_rows = 32;  // Rows in a panel of routers without an order.
constexpr std::uint32_t panel_gap = 1;    // Between panels, in nodes.
constexpr std::size_t planes_max = 64;

std::string dimension_name(std::size_t d) {
  constexpr std::string_view letters = "xyzabc";  // As Tofu's six are called.
  return d < letters.size() ? std::string(1, letters[d]) : fmt::format("d{}", d);
}

void append_nodes(const Graph& graph, std::uint32_t router, std::vector<std::uint32_t>& row) {
  for (const NodeId node : graph.nodes_at(RouterId(router))) row.push_back(node.index);
}

// Rows that say nothing by their length, none too long.
std::vector<std::vector<std::uint32_t>> wrapped(const std::vector<std::uint32_t>& nodes,
                                                std::size_t width) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::size_t at = 0; at < nodes.size(); at += width) {
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(at);
    rows.emplace_back(first,
                      first + static_cast<std::ptrdiff_t>(std::min(width, nodes.size() - at)));
  }
  return rows;
}

void measure(Layout& layout) {
  for (const Panel& panel : layout.panels) {
    layout.height = std::max(layout.height, static_cast<std::uint32_t>(panel.rows.size()));
    for (const auto& row : panel.rows)
      layout.width = std::max(layout.width, static_cast<std::uint32_t>(row.size()));
  }
}

// Puts panels in reading order, into rows that make the whole nearly square.
void arrange(Layout& layout) {
  const auto count = static_cast<std::uint32_t>(layout.panels.size());
  double best = 1e300;
  for (std::uint32_t columns = 1; columns <= count; ++columns) {
    const std::uint32_t rows = (count + columns - 1) / columns;
    const double wide = columns * (layout.width + panel_gap);
    const double high = rows * (layout.height + panel_gap);
    const double crooked = std::max(wide / high, high / wide);
    if (crooked >= best) continue;
    best = crooked;
    layout.columns = columns;
    layout.rows = rows;
  }
  for (std::uint32_t p = 0; p < count; ++p) {
    layout.panels[p].column = p % layout.columns;
    layout.panels[p].row = p / layout.columns;
  }
}

// A panel for each plane of x and y; the third dimension across and, where there are more, the
// fourth down, the fifth across again, and so on.
Layout lay_out_grid(const Graph& graph, const std::vector<int>& radix) {
  Layout layout;
  const auto size = [&](std::size_t d) {
    return d < radix.size() ? static_cast<std::uint32_t>(radix[d]) : 1u;
  };
  const std::uint32_t plane = size(0) * size(1);
  const bool brief = radix.size() > 4;
  for (std::size_t d = 2; brief && d < radix.size(); ++d)
    layout.labels += (d > 2 ? "," : "") + dimension_name(d);
  for (std::uint32_t first = 0; first < graph.router_count(); first += plane) {
    Panel panel;
    std::array<std::uint32_t, 2> place{}, stride{1, 1};
    std::uint32_t rest = first / plane;
    for (std::size_t d = 2; d < radix.size(); ++d) {
      const std::uint32_t digit = rest % size(d);
      rest /= size(d);
      place[d % 2] += digit * stride[d % 2];
      stride[d % 2] *= size(d);
      panel.label += brief ? fmt::format("{}{}", d > 2 ? "," : "", digit)
                           : fmt::format("{}{}={}", d > 2 ? " " : "", dimension_name(d), digit);
    }
    panel.column = place[0];
    panel.row = place[1];
    layout.columns = std::max(layout.columns, place[0] + 1);
    layout.rows = std::max(layout.rows, place[1] + 1);
    for (std::uint32_t y = 0; y < size(1); ++y) {
      auto& row = panel.rows.emplace_back();
      for (std::uint32_t x = 0; x < size(0); ++x) append_nodes(graph, first + y * size(0) + x, row);
    }
    if (radix.size() == 1) panel.rows = wrapped(panel.rows.front(), row_max);
    layout.panels.push_back(std::move(panel));
  }
  measure(layout);
  if (radix.size() == 3) arrange(layout);
  return layout;
}

// `together` routers make a panel, each of them a row.
Layout lay_out_rows(const Graph& graph, std::uint32_t routers, std::uint32_t together,
                    std::string_view word) {
  Layout layout;
  for (std::uint32_t first = 0; first < routers; first += together) {
    Panel panel{.label = routers > together ? fmt::format("{} {}", word, first / together) : "",
                .rows = {}};
    for (std::uint32_t r = first; r < std::min(first + together, routers); ++r) {
      std::vector<std::uint32_t> nodes;
      append_nodes(graph, r, nodes);
      for (auto& row : wrapped(nodes, row_max)) panel.rows.push_back(std::move(row));
    }
    if (!panel.rows.empty()) layout.panels.push_back(std::move(panel));
  }
  measure(layout);
  arrange(layout);
  return layout;
}

Layout lay_out_any(const Graph& graph) {
  const std::uint32_t nodes = graph.node_count();
  if (nodes >= 2 * std::uint64_t{graph.router_count()})
    return lay_out_rows(graph, graph.router_count(), panel_rows, "routers from");
  // Rows of one node each would be a tower.
  std::vector<std::uint32_t> all;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) append_nodes(graph, r, all);
  Layout layout;
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(nodes))));
  layout.panels.push_back({.label = "", .rows = wrapped(all, std::max<std::size_t>(side, 1))});
  measure(layout);
  return layout;
}

std::vector<int> sizes(std::span<const GridAxis> axes) {
  std::vector<int> made;
  for (const GridAxis& axis : axes) made.push_back(axis.size);
  return made;
}

// Which plane a router belongs to, how many there are, and what they are called.
struct Grouping {
  std::uint32_t stride = 1, count = 1;  // Plane = router / stride % count.
  std::string word;
};

Grouping grouping(const Topology& t) {
  const auto axes = t.shape->axes();
  const auto size = [&](std::size_t d) { return static_cast<std::uint32_t>(axes[d].size); };
  if (axes.size() == 1) return {1, size(0), "x="};
  if (!axes.empty()) return {size(0), size(1), "y="};
  if (const SwitchTree* const tree = t.shape->tree()) return {1, tree->leaves(), "leaf "};
  if (const auto blocks = t.shape->blocks())
    return {blocks->size, blocks->routers / blocks->size, std::string(blocks->word) + " "};
  return {1, t.graph.router_count(), ""};
}

}  // namespace

Layout lay_out(const Topology& t) {
  const auto axes = t.shape->axes();
  if (!axes.empty()) return lay_out_grid(t.graph, sizes(axes));
  if (const auto blocks = t.shape->blocks())
    return lay_out_rows(t.graph, blocks->routers, blocks->size, blocks->word);
  return lay_out_any(t.graph);
}

Planes find_planes(const Problem& problem) {
  const Topology& t = problem.topology();
  const Grouping group = grouping(t);
  std::vector<std::uint32_t> of_rank, used;
  for (const std::uint32_t node : problem.to_nodes(problem.in_order()))
    of_rank.push_back(t.graph.router_of(NodeId(node)).index / group.stride % group.count);
  // Colours are scarce: planes without ranks get none.
  used = of_rank;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const std::size_t count = std::min(used.size(), planes_max);
  // Block b holds the planes from ceil(b * all / count) on.
  const auto first = [&](std::size_t b) { return (b * used.size() + count - 1) / count; };
  const auto name = [&](std::size_t i) {
    return group.word.empty() ? router_name(t, RouterId(used[i])) : std::to_string(used[i]);
  };
  Planes planes;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t last = first(b + 1) - 1;
    planes.names.push_back(group.word + name(first(b)) + (last > first(b) ? "-" + name(last) : ""));
  }
  for (const std::uint32_t plane : of_rank) {
    const auto at = std::lower_bound(used.begin(), used.end(), plane) - used.begin();
    planes.of_rank.push_back(
        static_cast<std::uint32_t>(static_cast<std::size_t>(at) * count / used.size()));
  }
  return planes;
}

std::vector<std::string> plane_colours(std::size_t count) {
  // Found by search: any two, and any and white, are at least 25 apart in CIELAB, 23 for those who
  // lack red or green cones, 18 for those who lack blue ones. Sorted by lightness.
  constexpr std::array<std::uint32_t, 16> distinct = {
      0x480024, 0x000092, 0x48246d, 0x920000, 0x6d48b6, 0x9200ff, 0x486d6d, 0x6d6d48,
      0xb66d00, 0xb66db6, 0x9292ff, 0x92b66d, 0xff92b6, 0xffb6ff, 0xdbdb6d, 0xb6ff24};
  // Even steps of lightness, blue to yellow.
  constexpr std::array<std::uint32_t, 10> gradient = {0x440154, 0x482878, 0x3e4989, 0x31688e,
                                                      0x26828e, 0x1f9e89, 0x35b779, 0x6ece58,
                                                      0xb5de2b, 0xfde725};
  std::vector<std::string> colours;
  for (std::size_t i = 0; i < count; ++i) {
    if (count <= distinct.size()) {
      colours.push_back(fmt::format("#{:06x}", distinct[i * distinct.size() / count]));
      continue;
    }
    const double at =
        static_cast<double>(i * (gradient.size() - 1)) / static_cast<double>(count - 1);
    const auto low = std::min(static_cast<std::size_t>(at), gradient.size() - 2);
    std::uint32_t mixed = 0;
    for (const int shift : {16, 8, 0}) {
      const double a = (gradient[low] >> shift) & 255u, b = (gradient[low + 1] >> shift) & 255u;
      const double part = a + (b - a) * (at - static_cast<double>(low));
      mixed |= static_cast<std::uint32_t>(std::lround(part)) << shift;
    }
    colours.push_back(fmt::format("#{:06x}", mixed));
  }
  return colours;
}

}  // namespace weft::map
