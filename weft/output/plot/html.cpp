// SPDX-License-Identifier: Apache-2.0
// Charts as one HTML page.
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <weft/output/plot/chart.hpp>

namespace weft {
namespace {

// The notes of points are SVG titles, which browsers show late and small; the script shows them at
// once. Without scripts the titles still work.
constexpr std::string_view script = R"(
const tip = document.getElementById('tip');
for (const mark of document.querySelectorAll('.mark,.cell')) {
  const title = mark.querySelector('title');
  if (!title) continue;
  const text = title.textContent;
  mark.addEventListener('mouseenter', () => {
    title.textContent = '';
    tip.textContent = text;
    tip.hidden = false;
  });
  mark.addEventListener('mousemove', e => {
    tip.style.left = Math.min(e.pageX + 14, document.body.clientWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = (e.pageY + 14) + 'px';
  });
  mark.addEventListener('mouseleave', () => {
    title.textContent = text;
    tip.hidden = true;
  });
}
)";

constexpr std::string_view page_style = R"(
body{margin:2em auto;max-width:840px;padding:0 1em;font:15px/1.5 system-ui,sans-serif;
background:#fff;color:#222}
svg{max-width:100%;height:auto;display:block;margin:1em 0}
pre{width:max-content;max-width:calc(50vw + 50% - 1em);overflow-x:auto;font-size:11px;color:#666}
.wide{width:min(1240px,96vw);margin-left:calc(50% - min(620px,48vw))}
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px;text-align:right;border-bottom:1px solid #8884}
th{font-weight:600}th:first-child,td:first-child{text-align:left;padding-left:0}
#tip{position:absolute;white-space:pre;background:#222;color:#fff;padding:6px 10px;
border-radius:4px;font-size:13px;pointer-events:none}
@media (prefers-color-scheme:dark){
body{background:#1b1b1b;color:#e8e8e8}pre{color:#a8a8a8}#tip{background:#eee;color:#111}}
)";

}  // namespace

std::string make_page(const std::string& title, std::span<const std::string> parts,
                      const std::string& remark) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escape_xml(title), page_style);
  for (const std::string& part : parts) text += part;
  text +=
      fmt::format("<pre>{}</pre>\n<div id=\"tip\" hidden=\"hidden\"></div>\n", escape_xml(remark));
  text += fmt::format("<script>//<![CDATA[{}//]]></script>\n</body>\n</html>\n", script);
  return text;
}

std::string to_html(const std::string& title, std::span<const Chart> charts,
                    const std::string& remark) {
  std::vector<std::string> parts;
  for (const Chart& chart : charts) parts.push_back(to_svg(chart));
  return make_page(title, parts, remark);
}

}  // namespace weft
