// SPDX-License-Identifier: Apache-2.0
// Networks that are no cubes: trees with a row for each level, groups of routers (as of a
// dragonfly) each on a circle of its own, others on one circle.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>

#include <weft/output/plot/labels.hpp>
#include <weft/output/report/picture_parts.hpp>

namespace weft::report {

namespace {

constexpr double tile_height = 12, name_size = 11;
constexpr std::uint32_t named_routers_max = 120;

// Where the routers stand, and how wide one of them may be.
struct Layout {
  std::vector<Spot> spots;
  double size = 14;
  bool tree = false;
  std::vector<Spot> groups = {};  // Their centres.
  double group_radius = 0;
};

// Each level is spread evenly, in the order of numbers, the lowest at the bottom.
Layout tree_layout(const NetworkFacts& network, const Box& box) {
  Layout layout{std::vector<Spot>(network.routers), 16, true};
  const int top = *std::max_element(network.level.begin(), network.level.end());
  std::vector<std::size_t> count(static_cast<std::size_t>(top) + 1), seen(count.size());
  for (const std::uint8_t level : network.level) ++count[level];
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const std::uint8_t level = network.level[r];
    layout.spots[r] = {box.x + box.width * (static_cast<double>(seen[level]++) + 0.5) /
                                   static_cast<double>(count[level]),
                       box.y + 20 + (box.height - 50) * (top - level) / std::max(top, 1)};
  }
  const auto widest = static_cast<double>(*std::max_element(count.begin(), count.end()));
  layout.size = std::clamp(box.width / widest - 1, 1.0, 16.0);
  return layout;
}

Layout circle_layout(const NetworkFacts& network, const Box& box) {
  Layout layout{std::vector<Spot>(network.routers), network.routers > 200 ? 6.0 : 14.0, false};
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const double angle = 2 * std::numbers::pi * r / network.routers;
    layout.spots[r] = {box.x + box.width / 2 + 0.44 * box.width * std::sin(angle),
                       box.y + box.height / 2 - 0.44 * box.height * std::cos(angle)};
  }
  return layout;
}

// Groups stand on an ellipse, the routers of each on a circle around its centre, so that links
// between groups are seen apart from those inside.
Layout group_layout(const NetworkFacts& network, const Box& box) {
  const auto groups =
      static_cast<std::size_t>(*std::max_element(network.group.begin(), network.group.end())) + 1;
  std::vector<std::size_t> count(groups), seen(groups);
  for (const std::int32_t group : network.group) ++count[static_cast<std::size_t>(group)];
  const auto largest = static_cast<double>(*std::max_element(count.begin(), count.end()));
  const double a = 0.4 * box.width, b = 0.38 * box.height, whole = 2 * std::numbers::pi;
  Layout layout{std::vector<Spot>(network.routers), 14, false};
  layout.group_radius = std::min(0.34 * whole * b / static_cast<double>(groups), 0.14 * box.height);
  layout.size = std::clamp(0.7 * whole * layout.group_radius / largest, 2.0, 14.0);
  const Spot middle{box.x + box.width / 2, box.y + box.height / 2};
  for (std::size_t g = 0; g < groups; ++g) {
    const double angle = whole * static_cast<double>(g) / static_cast<double>(groups);
    layout.groups.push_back({middle.x + a * std::sin(angle), middle.y - b * std::cos(angle)});
  }
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const auto g = static_cast<std::size_t>(network.group[r]);
    const double angle =
        whole * (static_cast<double>(seen[g]++) + 0.5) / static_cast<double>(count[g]);
    layout.spots[r] = {layout.groups[g].x + layout.group_radius * std::sin(angle),
                       layout.groups[g].y - layout.group_radius * std::cos(angle)};
  }
  return layout;
}

Layout lay_out(const NetworkFacts& network, const Box& box) {
  if (network.family == NetworkFacts::Family::tree) return tree_layout(network, box);
  return network.group.empty() ? circle_layout(network, box) : group_layout(network, box);
}

// Busier links are thicker and drawn over the others, so that they are seen among many.
void draw_links(Sheet& sheet, const NetworkFacts& network, const Layout& layout,
                const Palette& palette) {
  std::vector<std::size_t> order(network.links());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](std::size_t l) { return palette.weight ? palette.weight(l) : 0.15; };
  if (palette.weight)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
  const double thin =
      std::clamp(std::sqrt(300 / std::max(static_cast<double>(network.links()), 1.0)), 0.3, 1.0);
  for (const std::size_t l : order) {
    const Spot &a = layout.spots[static_cast<std::size_t>(network.link_from[l])],
               &b = layout.spots[static_cast<std::size_t>(network.link_to[l])];
    const double thick = thin * (0.7 + 2 * weight(l)), apart = 1.2 * thin;
    // Each direction is drawn on its own side of the line.
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    const double dx = (b.y - a.y) / length * apart, dy = (a.x - b.x) / length * apart;
    sheet.line({a.x + dx, a.y + dy}, {b.x + dx, b.y + dy}, palette.link(l), thick);
  }
}

// Names in a picture, none of which covers another.
class Names {
 public:
  explicit Names(Sheet& sheet) : sheet_(sheet) {}

  // A name that would cover another is left out.
  void draw(Spot place, const std::string& name) {
    const double width = text_width(name, name_size);
    const auto covers = [&](const Box& other) {
      return place.x < other.x + other.width + 2 && other.x < place.x + width + 2 &&
             std::abs(place.y - other.y) < 12;
    };
    if (std::any_of(taken_.begin(), taken_.end(), covers)) return;
    taken_.push_back({place.x, place.y, width, 0});
    sheet_.name(place.x, place.y, name);
  }

 private:
  Sheet& sheet_;
  std::vector<Box> taken_;
};

// The name of the busiest link, in its middle.
void draw_busiest(const Box& box, const NetworkFacts& network, const Layout& layout,
                  std::size_t link, Names& names) {
  const Spot &a = layout.spots[static_cast<std::size_t>(network.link_from[link])],
             &b = layout.spots[static_cast<std::size_t>(network.link_to[link])];
  const std::string text = "busiest: " + link_name(network, link);
  const double width = text_width(text, name_size);
  const double x = (a.x + b.x) / 2 - width / 2;
  names.draw(
      {std::clamp(x, box.x, std::max(box.x, box.x + box.width - width)), (a.y + b.y) / 2 + 4},
      text);
}

void draw_group_names(const Box& box, const Layout& layout, Names& names) {
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const std::string name = "group " + std::to_string(g);
    const double width = text_width(name, name_size);
    const Spot& at = layout.groups[g];
    // Beyond the group, seen from the middle of the picture, where no links between groups pass.
    const double side = (at.x - box.x - box.width / 2) / box.width,
                 down = (at.y - box.y - box.height / 2) / box.height;
    const double beyond = (layout.group_radius + layout.size / 2 + 6) / std::hypot(side, down);
    names.draw({at.x - width / 2 + side * (beyond + width), at.y + 4 + down * (beyond + 8)}, name);
  }
}

// Names stand where there are no links: above the upper rows of a tree and below its lowest,
// outside a circle.
void draw_names(const Box& box, const NetworkFacts& network, const Layout& layout, Names& names) {
  if (!layout.groups.empty()) return draw_group_names(box, layout, names);
  if (network.routers > named_routers_max) return;
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const std::string& name = network.names[r];
    const double width = text_width(name, name_size);
    const Spot& at = layout.spots[r];
    Spot place{at.x - width / 2, at.y + (layout.tree && network.level[r] == 0 ? 20 : -10)};
    if (!layout.tree) {
      const double side = (at.x - box.x - box.width / 2) / box.width,
                   down = (at.y - box.y - box.height / 2) / box.height;
      place = {at.x - width / 2 + side * (width + 24), at.y + 4 + 36 * down};
    }
    names.draw(place, name);
  }
}

}  // namespace

double draw_lines(Sheet& sheet, const Box& box, const NetworkFacts& network,
                  const Palette& palette) {
  const Layout layout = lay_out(network, box);
  draw_links(sheet, network, layout, palette);
  for (std::uint32_t r = 0; r < network.routers; ++r) {
    const Spot& at = layout.spots[r];
    if (layout.tree) {
      sheet.tile({at.x - layout.size / 2, at.y - tile_height / 2, layout.size, tile_height},
                 palette.router(r), network.names[r]);
    } else {
      sheet.dot(at.x, at.y, layout.size / 2, palette.router(r), network.names[r]);
    }
  }
  Names names(sheet);
  if (palette.busiest) draw_busiest(box, network, layout, *palette.busiest, names);
  draw_names(box, network, layout, names);
  return box.height;
}

}  // namespace weft::report
