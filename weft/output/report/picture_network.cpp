// SPDX-License-Identifier: Apache-2.0
// Pictures of networks: cubes as slices, others as lines. A heat map names the busiest link.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <weft/output/plot/labels.hpp>
#include <weft/output/report/picture_parts.hpp>

namespace weft::report {

namespace {

constexpr double width = 960, inner = width - 2 * Sheet::margin;
constexpr Colour plain_link{170, 170, 170}, plain_router{86, 180, 233};

// Utilisation of each link and router, at a moment or as the mean over all time.
struct Shown {
  std::vector<double> links, routers;
  double most = 1;  // The largest of them.
  std::string when;
};

Shown shown_of(const RunView& view, const PictureRequest& request) {
  const NetworkFacts& network = *view.network;
  Shown shown{std::vector<double>(network.links(), 0), std::vector<double>(network.routers, 0), 1,
              "mean of all time"};
  if (!view.heat || view.heat->frames() == 0) return shown;
  const Heat& heat = *view.heat;
  std::size_t first = 0, last = heat.frames();
  if (request.at) {
    const auto found =
        std::lower_bound(heat.end_ps.begin(), heat.end_ps.end(), request.at->in_ps());
    first = std::min(static_cast<std::size_t>(found - heat.end_ps.begin()), last - 1);
    last = first + 1;
    shown.when = "until " + pretty(static_cast<double>(heat.end_ps[first]), "ps");
  }
  const double whole =
      static_cast<double>(heat.end_ps[last - 1] - (first == 0 ? 0 : heat.end_ps[first - 1]));
  for (std::size_t f = first; f < last; ++f) {
    const double part =
        static_cast<double>(heat.end_ps[f] - (f == 0 ? 0 : heat.end_ps[f - 1])) / whole / 255;
    for (std::size_t l = 0; l < network.links(); ++l)
      shown.links[l] += part * heat.links[f * network.links() + l];
    if (request.id == "buffer-heat") {
      for (std::size_t r = 0; r < network.routers; ++r)
        shown.routers[r] += part * heat.buffers[f * network.routers + r];
    } else if (heat.node_links) {
      for (std::size_t r = 0; r < network.routers; ++r)
        shown.routers[r] += part * (*heat.node_links)[f * network.routers + r];
    }
  }
  if (request.id == "link-heat") {
    for (std::size_t l = 0; l < network.links(); ++l) {
      double& most = shown.routers[static_cast<std::size_t>(network.link_from[l])];
      most = std::max(most, shown.links[l]);
    }
  }
  shown.most = 1e-9;
  for (const std::vector<double>* list : {&shown.links, &shown.routers}) {
    if (list == &shown.links && request.id == "buffer-heat") continue;
    for (const double share : *list) shown.most = std::max(shown.most, share);
  }
  return shown;
}

// The link among those shown that is busiest; none if all are idle.
std::optional<std::size_t> busiest_link(const Shown& shown) {
  const auto most = std::max_element(shown.links.begin(), shown.links.end());
  if (most == shown.links.end() || *most <= 0) return std::nullopt;
  return static_cast<std::size_t>(most - shown.links.begin());
}

// A frame around the tile whose router sends over the busiest link, and the link's name beside it,
// inside the slice where it fits.
void mark_tile(Sheet& sheet, const Box& tile, const Box& slice, const std::string& link) {
  const std::string text = "busiest: " + link;
  const double room = slice.x + slice.width - text_width(text, 11);
  sheet.frame(tile);
  const double y = tile.y > slice.y ? tile.y - 4 : tile.y + tile.height + 12;
  sheet.name(std::max(slice.x, std::min(tile.x, room)), y, text);
}

// Slices of the first two dimensions, one for each position in the others. Returns the height.
double draw_slices(Sheet& sheet, const Box& box, const NetworkFacts& network,
                   const Palette& palette) {
  const auto columns = static_cast<std::size_t>(network.radix[0]);
  const std::size_t rows =
      network.radix.size() > 1 ? static_cast<std::size_t>(network.radix[1]) : 1;
  const std::size_t slices = network.routers / (columns * rows);
  const double gap = slices > 1 ? 18 : 0;
  // Choose the number of columns so that the picture is about as wide as it is high.
  auto across = static_cast<std::size_t>(
      std::ceil(std::sqrt(static_cast<double>(slices * rows) / static_cast<double>(columns))));
  across = std::clamp<std::size_t>(across, 1, slices);
  const double side = std::min(
      (box.width - gap * static_cast<double>(across - 1)) / static_cast<double>(across * columns),
      rows * columns < 64 ? 40.0 : 28.0);
  const double slice_width = side * static_cast<double>(columns),
               slice_height = side * static_cast<double>(rows);
  for (std::size_t s = 0; s < slices; ++s) {
    Raster raster(columns, rows, {255, 255, 255});
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < columns; ++x)
        raster.set(x, y, palette.router(static_cast<std::uint32_t>((s * rows + y) * columns + x)));
    }
    const std::size_t column = s % across, line = s / across;
    const Box place{box.x + static_cast<double>(column) * (slice_width + gap),
                    box.y + 14 + static_cast<double>(line) * (slice_height + gap + 8), slice_width,
                    slice_height};
    sheet.image(place, raster);
    if (palette.busiest) {
      const auto r = static_cast<std::size_t>(network.link_from[*palette.busiest]);
      if (r / (columns * rows) == s)
        mark_tile(sheet,
                  {place.x + side * static_cast<double>(r % columns),
                   place.y + side * static_cast<double>(r / columns % rows), side, side},
                  place, link_name(network, *palette.busiest));
    }
    if (slices == 1) continue;
    std::string name;
    std::size_t rest = s;
    for (std::size_t d = 2; d < network.radix.size(); ++d) {
      const auto radix = static_cast<std::size_t>(network.radix[d]);
      name += fmt::format("{}{}", name.empty() ? "" : ",", rest % radix);
      rest /= radix;
    }
    sheet.text(place.x, place.y - 4, (network.radix.size() == 3 ? "z = " : "at ") + name);
  }
  const std::size_t lines = (slices + across - 1) / across;
  return 14 + static_cast<double>(lines) * (slice_height + gap + 8);
}

double draw_any(Sheet& sheet, const Box& box, const NetworkFacts& network, const Palette& palette) {
  if (network.family == NetworkFacts::Family::cube)
    return draw_slices(sheet, box, network, palette);
  return draw_lines(sheet, box, network, palette);
}

}  // namespace

std::string link_name(const NetworkFacts& network, std::size_t link) {
  return fmt::format("{} to {}",
                     router_name(network, static_cast<std::uint32_t>(network.link_from[link])),
                     router_name(network, static_cast<std::uint32_t>(network.link_to[link])));
}

std::string draw_network(const RunView& view, const PictureRequest& request) {
  const NetworkFacts& network = *view.network;
  const Shown shown = shown_of(view, request);
  const bool links = request.id == "link-heat";
  const char* const what = links ? "Links" : view.heat ? "Buffers" : "Network";
  const auto busiest = view.heat && links ? busiest_link(shown) : std::nullopt;
  std::string caption = view.heat ? view.name + ", " + shown.when : view.name;
  if (busiest)
    caption += fmt::format("; busiest link between routers: {}, {}", link_name(network, *busiest),
                           pretty(shown.links[*busiest], "share"));
  Sheet sheet(width, fmt::format("{}: {}", what, network.name), caption);
  const Box box{Sheet::margin, Sheet::head, inner, inner * 0.62};
  // Absolute unless asked otherwise, so that two pictures can be compared.
  const double end = request.relative ? shown.most : 1;
  Palette palette{[&](std::uint32_t r) {
                    return view.heat ? heat_colour(shown.routers[r] / end) : plain_router;
                  },
                  [&](std::size_t l) {
                    const double share = view.heat && links ? shown.links[l] / end : 0;
                    return share > 0 ? heat_colour(share) : plain_link;
                  }};
  palette.busiest = busiest;
  if (view.heat && links)
    palette.weight = [&](std::size_t l) { return std::min(shown.links[l] / end, 1.0); };
  double y = box.y + draw_any(sheet, box, network, palette) + 24;
  if (view.heat)
    y += sheet.legend(
        y, {end, shown.most},
        links
            ? "share of the link rate: each router's busiest link, to a router or to or from a node"
            : "share of the buffer space of each router");
  return sheet.finish(y + 10);
}

std::string draw_placement(const RunView& view) {
  const NetworkFacts& network = *view.network;
  const Placement& placement = *view.placement;
  Sheet sheet(width, "Where ranks run",
              view.name + ": colours are rank numbers, from first to last");
  const double half = (inner - Sheet::margin) / 2;
  double height = 0;
  for (const bool after : {false, true}) {
    const std::vector<std::uint32_t>& nodes = after ? placement.after : placement.before;
    std::vector<double> share(network.routers, -1);
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] >= network.node_router.size()) continue;
      const auto router = static_cast<std::size_t>(network.node_router[nodes[rank]]);
      if (share[router] < 0)
        share[router] = static_cast<double>(rank) / static_cast<double>(nodes.size());
    }
    const Box box{Sheet::margin + (after ? half + Sheet::margin : 0), Sheet::head + 30, half,
                  half * 0.8};
    sheet.text(box.x, box.y - 8,
               (after ? "after: " + placement.after_name : "before: " + placement.before_name));
    const Palette palette{[&](std::uint32_t r) {
                            return share[r] < 0 ? Colour{255, 255, 255} : order_colour(share[r]);
                          },
                          [](std::size_t) { return plain_link; }};
    const double drawn = draw_any(sheet, box, network, palette);
    height = std::max(height, drawn);
  }
  return sheet.finish(Sheet::head + 30 + height + 20);
}

}  // namespace weft::report
