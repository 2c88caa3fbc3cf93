// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/picture.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <weft/output/plot/chart.hpp>
#include <weft/study/map/layout.hpp>

namespace weft::map {

namespace {

constexpr double sheet_width = 560, sheet_height = 900, margin = 24, top = 74, legend_row = 22;
constexpr double cell_max = 22, label_space = 14;
constexpr std::size_t cells_max = 80'000;  // Limit for one sheet.
constexpr std::size_t tips_max = 10'000;   // Limit for the picture; each costs about 90 bytes.
constexpr std::size_t named_max = 16;      // Planes with a name each in the legend.

constexpr int free_place = -1, forbidden_place = -2, no_place = -3;

constexpr std::string_view style_sheet = R"(
.weft{--ink:#222;--soft:#666;--paper:#fff;--blank:#fff;font:13px system-ui,sans-serif}
@media (prefers-color-scheme:dark){
.weft{--ink:#e8e8e8;--soft:#a8a8a8;--paper:#1b1b1b;--blank:#f4f4f4}}
.weft .paper{fill:var(--paper)}.weft text{fill:var(--ink)}
.weft .soft{fill:var(--soft);font-size:11px}
.weft .title{font-size:17px;font-weight:600}
.weft .blank{fill:var(--blank);stroke:#999;stroke-width:.7;vector-effect:non-scaling-stroke}
.weft .no{fill:url(#weft-hatch)}
)";

// The smallest things drawn: slots of nodes, or runs of nodes.
struct Grain {
  std::uint32_t slots = 1;             // Slots of a node that are drawn one by one.
  std::uint32_t across = 1, down = 1;  // How they divide it.
  std::uint32_t merged = 1;            // Nodes of a row that are drawn as one.
  bool tips = false;
};

struct Drawing {
  const Problem& problem;
  Layout layout;
  Planes planes;
  Grain grain;
  double cell = 1;                  // Size of a node, in pixels.
  double panel_x = 0, panel_y = 0;  // From one panel to the next, in pixels.
  bool labels = false;
};

Grain choose_grain(const Problem& problem, const Picture& picture) {
  const std::size_t nodes = problem.topology().graph.node_count();
  Grain grain;
  grain.slots = problem.slots_per_node();
  if (nodes * grain.slots > cells_max) {
    grain.slots = 1;
    grain.merged = static_cast<std::uint32_t>((nodes + cells_max - 1) / cells_max);
  }
  while (grain.across * grain.across < grain.slots) ++grain.across;
  grain.down = (grain.slots + grain.across - 1) / grain.across;
  const bool whole = grain.slots == problem.slots_per_node() && grain.merged == 1;
  grain.tips = whole && problem.ranks() * picture.sheets.size() <= tips_max;
  return grain;
}

Drawing make_drawing(const Problem& problem, const Picture& picture) {
  Drawing d{.problem = problem,
            .layout = lay_out(problem.topology()),
            .planes = find_planes(problem),
            .grain = choose_grain(problem, picture)};
  const Layout& layout = d.layout;
  d.labels = std::any_of(layout.panels.begin(), layout.panels.end(),
                         [](const Panel& panel) { return !panel.label.empty(); });
  const double wide = layout.columns * (layout.width + 1.0), high = layout.rows * layout.height;
  const double gaps = layout.rows * (d.labels ? label_space + 4 : 6);
  d.cell = std::min({cell_max, sheet_width / wide, std::max(1.0, (sheet_height - gaps)) / high});
  d.panel_x = (layout.width + 1.0) * d.cell;
  d.panel_y = layout.height * d.cell + (d.labels ? label_space + 4 : 6);
  // A label wider than its panel would run into the next.
  std::size_t longest = 0;
  for (const Panel& panel : layout.panels) longest = std::max(longest, panel.label.size());
  d.labels = d.labels && static_cast<double>(longest) * 6 <= d.panel_x;
  return d;
}

// What stands on each node: its ranks, ascending.
struct Standing {
  std::vector<std::uint32_t> start, ranks;

  Standing(const std::vector<std::uint32_t>& nodes, std::uint32_t count)
      : start(count + 1), ranks(nodes.size()) {
    for (const std::uint32_t n : nodes) ++start[n + 1];
    for (std::uint32_t n = 0; n < count; ++n) start[n + 1] += start[n];
    std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
    for (std::uint32_t r = 0; r < nodes.size(); ++r) ranks[next[nodes[r]]++] = r;
  }
  std::span<const std::uint32_t> at(std::uint32_t node) const {
    return std::span(ranks).subspan(start[node], start[node + 1] - start[node]);
  }
};

// The plane of most ranks of these nodes.
int most_common(const Drawing& d, const Standing& standing, std::span<const std::uint32_t> nodes) {
  std::map<std::uint32_t, std::uint32_t> votes;
  bool allowed = false;
  for (const std::uint32_t node : nodes) {
    allowed = allowed || d.problem.slots_at(NodeId(node)) > 0;
    for (const std::uint32_t rank : standing.at(node)) ++votes[d.planes.of_rank[rank]];
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != votes.end()) return static_cast<int>(most->first);
  return allowed ? free_place : forbidden_place;
}

// One line of places of a row of nodes: `line` of the lines into which slots divide the row.
std::vector<int> places(const Drawing& d, const Standing& standing,
                        const std::vector<std::uint32_t>& row, std::uint32_t line) {
  std::vector<int> made;
  const Grain& g = d.grain;
  if (g.slots == 1) {
    for (std::size_t i = 0; i < row.size(); i += g.merged)
      made.push_back(most_common(
          d, standing, std::span(row).subspan(i, std::min<std::size_t>(g.merged, row.size() - i))));
    return made;
  }
  for (const std::uint32_t node : row) {
    const auto ranks = standing.at(node);
    const bool forbidden = d.problem.slots_at(NodeId(node)) == 0;
    for (std::uint32_t i = 0; i < g.across; ++i) {
      const std::size_t slot = line * g.across + i;
      made.push_back(forbidden             ? forbidden_place
                     : slot >= g.slots     ? no_place
                     : slot < ranks.size() ? static_cast<int>(d.planes.of_rank[ranks[slot]])
                                           : free_place);
    }
  }
  return made;
}

std::string tip(const Drawing& d, std::uint32_t node, std::uint32_t rank) {
  const Topology& t = d.problem.topology();
  return escape_xml(fmt::format("rank {}, {} {}", rank, node_name(t, NodeId(node)),
                                router_name(t, t.graph.router_of(NodeId(node)))));
}

// Each place by itself, with a tip.
void draw_tips(const Drawing& d, const Standing& standing, const Panel& panel,
               std::map<int, std::string>& paths) {
  const Grain& g = d.grain;
  const double side = d.cell / g.across >= 5 ? 0.9 : 1;
  for (std::size_t y = 0; y < panel.rows.size(); ++y)
    for (std::size_t x = 0; x < panel.rows[y].size(); ++x) {
      const std::uint32_t node = panel.rows[y][x];
      std::size_t slot = 0;
      for (const std::uint32_t rank : standing.at(node)) {
        fmt::format_to(std::back_inserter(paths[static_cast<int>(d.planes.of_rank[rank])]),
                       "<path class=\"cell\" d=\"M{} {}h{}v{}h-{}z\"><title>{}</title></path>\n",
                       x * g.across + slot % g.across, y * g.down + slot / g.across, side, side,
                       side, tip(d, node, rank));
        ++slot;
      }
      if (d.problem.slots_at(NodeId(node)) == 0)
        fmt::format_to(std::back_inserter(paths[forbidden_place]),
                       "<path d=\"M{} {}h{}v{}h-{}z\"/>\n", x * g.across, y * g.down, g.across,
                       g.down, g.across);
    }
}

// Places of one colour side by side as one, all of a colour in one path.
void draw_runs(const Drawing& d, const Standing& standing, const Panel& panel,
               std::map<int, std::string>& paths) {
  const Grain& g = d.grain;
  for (std::size_t y = 0; y < panel.rows.size(); ++y)
    for (std::uint32_t line = 0; line < g.down; ++line) {
      const auto row = places(d, standing, panel.rows[y], line);
      for (std::size_t x = 0; x < row.size();) {
        const auto end = std::find_if(row.begin() + static_cast<std::ptrdiff_t>(x), row.end(),
                                      [&](int place) { return place != row[x]; });
        const auto length = static_cast<std::size_t>(end - row.begin()) - x;
        if (row[x] != free_place && row[x] != no_place)
          fmt::format_to(std::back_inserter(paths[row[x]]), "M{} {}h{}v1h-{}z", x,
                         y * g.down + line, length, length);
        x += length;
      }
    }
  for (auto& [place, path] : paths) path = fmt::format("<path d=\"{}\"/>\n", path);
}

// Draws all nodes of the panel, with and without ranks.
std::string draw_blank(const Drawing& d, const Panel& panel) {
  const Grain& g = d.grain;
  std::string path;
  std::size_t y = 0;
  while (y < panel.rows.size()) {
    const std::size_t nodes = panel.rows[y].size();
    std::size_t end = y + 1;
    while (end < panel.rows.size() && panel.rows[end].size() == nodes) ++end;
    const std::size_t width = (nodes + g.merged - 1) / g.merged * g.across;
    path += fmt::format("M0 {}h{}v{}h-{}z", y * g.down, width, (end - y) * g.down, width);
    y = end;
  }
  return "<path class=\"blank\" d=\"" + path + "\"/>\n";
}

std::string draw_sheet(const Drawing& d, const PictureSheet& sheet, double left) {
  const Standing standing(sheet.nodes, d.problem.topology().graph.node_count());
  std::string text = fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", left, top - 24,
                                 escape_xml(sheet.label));
  for (const Panel& panel : d.layout.panels) {
    const double x = left + panel.column * d.panel_x, y = top + panel.row * d.panel_y;
    if (d.labels)
      text += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y - 4,
                          escape_xml(panel.label));
    text += fmt::format("<g transform=\"translate({:.2f} {:.2f}) scale({:.5f} {:.5f})\">\n", x, y,
                        d.cell * d.grain.merged / d.grain.across, d.cell / d.grain.down);
    text += draw_blank(d, panel);
    std::map<int, std::string> paths;
    (d.grain.tips ? draw_tips : draw_runs)(d, standing, panel, paths);
    for (const auto& [place, path] : paths)
      text += fmt::format("<g class=\"{}\">{}</g>\n",
                          place == forbidden_place ? "no" : fmt::format("k{}", place), path);
    text += "</g>\n";
  }
  return text;
}

std::string swatch(double x, double y, double width, const std::string& name) {
  return fmt::format(
      "<g transform=\"translate({:.1f} {:.1f}) scale({:.3f} 14)\"><path class=\"{}\" "
      "d=\"M0 0h1v1h-1z\"/></g>\n",
      x, y - 11, width, name);
}

struct Legend {
  std::string text;
  double height = 0;
};

Legend draw_legend(const Drawing& d, double y, double width) {
  Legend made;
  double x = margin;
  const double start = y;
  const auto place = [&](const std::string& style, const std::string& name) {
    const double needs = 32 + 7.5 * static_cast<double>(name.size());
    if (x + needs > width - margin) x = margin, y += legend_row;
    made.text += swatch(x, y, 14, style);
    made.text +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 20, y, escape_xml(name));
    x += needs;
  };
  const auto& names = d.planes.names;
  if (names.size() <= named_max) {
    for (std::size_t p = 0; p < names.size(); ++p) place(fmt::format("k{}", p), names[p]);
  } else {
    const double step = std::min(6.0, (width - 460) / static_cast<double>(names.size()));
    made.text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, names.front());
    x += 12 + 7.5 * static_cast<double>(names.front().size());
    for (std::size_t p = 0; p < names.size(); ++p, x += step)
      made.text += swatch(x, y, step, fmt::format("k{}", p));
    made.text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 8, y, names.back());
    x += 40 + 7.5 * static_cast<double>(names.back().size());
  }
  if (d.problem.ranks() < d.problem.slots()) place("blank", "free");
  if (!d.problem.whole()) {
    place("blank", "forbidden");
    made.text += swatch(x - 32 - 7.5 * 9, y, 14, "no");
  }
  made.height = y - start + legend_row;
  return made;
}

std::string note(const Drawing& d) {
  std::string text =
      "Each rank has the colour of the place where it stands when ranks follow the order of nodes.";
  if (d.labels && !d.layout.labels.empty()) text += " Slices are labelled " + d.layout.labels + ".";
  if (d.grain.slots < d.problem.slots_per_node())
    text += " A node has the colour of most of its ranks.";
  if (d.grain.merged > 1)
    text += fmt::format(" {} nodes of a row are drawn as one.", d.grain.merged);
  return text;
}

}  // namespace

std::string draw_placement(const Problem& problem, const Picture& picture) {
  const Drawing d = make_drawing(problem, picture);
  const double across = d.layout.columns * d.panel_x;
  const auto sheets = static_cast<double>(std::max<std::size_t>(picture.sheets.size(), 1));
  const double width = std::max(sheets * across + (sheets + 1) * margin, 640.0);
  const double bottom = top + d.layout.rows * d.panel_y + 14;
  const Legend legend = draw_legend(d, bottom, width);
  const double height = bottom + legend.height + 16;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weft\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>{3}",
      width, height, escape_xml(picture.title), style_sheet);
  const auto colours = plane_colours(d.planes.names.size());
  for (std::size_t p = 0; p < colours.size(); ++p)
    text += fmt::format(".weft .k{}{{fill:{}}}\n", p, colours[p]);
  text += fmt::format(
      "</style>\n<defs><pattern id=\"weft-hatch\" patternUnits=\"userSpaceOnUse\" width=\".5\" "
      "height=\".5\"><path d=\"M0 .5L.5 0\" stroke=\"#555\" stroke-width=\".09\"/></pattern></defs>"
      "\n<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n"
      "<text class=\"title\" x=\"{}\" y=\"26\">{}</text>\n",
      width, height, margin, escape_xml(picture.title));
  double left = margin;
  for (const PictureSheet& sheet : picture.sheets) {
    text += draw_sheet(d, sheet, left);
    left += across + margin;
  }
  text += legend.text;
  text += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{:.1f}\">{}</text>\n</svg>\n", margin,
                      height - 10, note(d));
  return text;
}

}  // namespace weft::map
