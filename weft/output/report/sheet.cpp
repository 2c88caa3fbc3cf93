// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <weft/output/plot/ticks.hpp>
#include <weft/output/report/blocks.hpp>
#include <weft/output/report/sheet.hpp>

namespace weft::report {

Sheet::Sheet(double width, const std::string& title, const std::string& subtitle) : width_(width) {
  body_ +=
      fmt::format("<text x=\"{}\" y=\"32\" class=\"title\">{}</text>\n", margin, escape_xml(title));
  body_ += fmt::format("<text x=\"{}\" y=\"52\" class=\"soft\">{}</text>\n", margin,
                       escape_xml(subtitle));
}

void Sheet::text(double x, double y, const std::string& words, Anchor anchor) {
  const char* const anchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchors[static_cast<int>(anchor)], escape_xml(words));
}

void Sheet::image(const Box& box, const Raster& raster) {
  body_ += fmt::format(
      "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{}\"/>\n",
      box.x, box.y, box.width, box.height,
      to_base64(raster.enlarged(box.width, box.height).to_png()));
  frame(box);
}

void Sheet::frame(const Box& box) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n",
      box.x, box.y, box.width, box.height);
}

void Sheet::rectangle(const Box& box, Colour fill) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", box.x,
      box.y, box.width, box.height, to_hex(fill));
}

void Sheet::line(Spot from, Spot to, Colour colour, double width) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{:.2f}\"/>\n",
      from.x, from.y, to.x, to.y, to_hex(colour), width);
}

void Sheet::name(double x, double y, const std::string& words) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\">{}</text>\n", x, y,
                       escape_xml(words));
}

void Sheet::tile(const Box& box, Colour fill, const std::string& tip) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "stroke=\"#444\" stroke-width=\"{}\"><title>{}</title></rect>\n",
      box.x, box.y, box.width, box.height, to_hex(fill), box.width >= 5 ? 0.5 : 0, escape_xml(tip));
}

void Sheet::dot(double x, double y, double radius, Colour fill, const std::string& tip) {
  body_ += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"#444\" "
      "stroke-width=\"0.5\"><title>{}</title></circle>\n",
      x, y, radius, to_hex(fill), escape_xml(tip));
}

void Sheet::x_axis(const Box& box, double low, double high, const Unit& unit,
                   const std::string& label) {
  const Ticks ticks = linear_ticks(low, high, 6);
  for (const double at : ticks.at) {
    if (at < low || at > high) continue;
    const double x = box.x + box.width * (at - low) / std::max(high - low, 1e-300);
    line({x, box.y + box.height}, {x, box.y + box.height + 4}, {102, 102, 102}, 1);
    text(x, box.y + box.height + 18, pretty(at, unit), Anchor::middle);
  }
  text(box.x + box.width / 2, box.y + box.height + 36, label, Anchor::middle);
}

void Sheet::y_axis(const Box& box, double low, double high, const Unit& unit,
                   const std::string& label) {
  const Ticks ticks = linear_ticks(low, high, 6);
  for (const double at : ticks.at) {
    if (at < low || at > high) continue;
    const double y = box.y + box.height * (at - low) / std::max(high - low, 1e-300);
    line({box.x - 4, y}, {box.x, y}, {102, 102, 102}, 1);
    text(box.x - 7, y + 4, pretty(at, unit), Anchor::end);
  }
  text(box.x, box.y - 8, label, Anchor::end);
}

double Sheet::legend(double y, const Range& range, const std::string& meaning) {
  constexpr int steps = 64;
  constexpr double width = 256, height = 12;
  for (int i = 0; i < steps; ++i)
    rectangle({margin + width * i / steps, y, width / steps + 0.5, height},
              heat_colour((i + 0.5) / steps));
  text(margin, y + height + 16, "0");
  text(margin + width / 2, y + height + 16, pretty(range.end / 2, "share"), Anchor::middle);
  text(margin + width, y + height + 16, pretty(range.end, "share"), Anchor::end);
  text(margin + width + 14, y + height - 1, meaning);
  const double beside = margin + width + 14;
  rectangle({beside, y + height + 5, 12, 12}, heat_colour(0));
  text(beside + 18, y + height + 16, "idle; largest here: " + pretty(range.most, "share"));
  return height + 28;
}

std::string Sheet::finish(double height) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<style>text{{font:13px system-ui,sans-serif;"
             "fill:#222}}.title{{font-size:17px;font-weight:600}}.soft{{fill:#666;font-size:12px}}"
             ".frame{{fill:none;stroke:#888}}.name{{font-size:11px;fill:#555;paint-order:stroke;"
             "stroke:#fff;"
             "stroke-width:3px}}</style>\n"
             "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
             width_, height) +
         body_ + "</svg>\n";
}

}  // namespace weft::report
