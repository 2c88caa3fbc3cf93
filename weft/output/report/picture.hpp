// SPDX-License-Identifier: Apache-2.0
// Each plot of the page as a file: SVG, and PNG if librsvg is available.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

struct PictureName {
  std::string id, title;
};
// The pictures that a run offers: "link-heat", "timeline", "latency", ...
std::vector<PictureName> pictures_of(const RunView& view);

struct PictureRequest {
  std::string id;
  std::optional<Time> at = std::nullopt;  // Moment of a heat map; absent: the mean over all time.
  bool relative = false;  // Colours of a heat map end at its largest value, not at 100 %.
};
// Draws a complete SVG document. The error for an unknown picture names the known ones.
Result<std::string> draw(const RunView& view, const PictureRequest& request);

// Of several runs: a chart with the curves of all. The error for other pictures names the charts.
Result<std::string> draw(std::span<const RunView> views, const PictureRequest& request);

bool has_png();
Result<std::string> to_png(const std::string& svg, double scale);

}  // namespace weft::report
