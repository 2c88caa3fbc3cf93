// SPDX-License-Identifier: Apache-2.0
// Each plot of the page as a file: SVG, and PNG where librsvg is there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

struct PictureName {
  std::string id, title;
};
// What can be drawn of a run: "link-heat", "timeline", "latency", ...
std::vector<PictureName> pictures_of(const RunView& view);

struct PictureWish {
  std::string id;
  std::optional<Time> at = std::nullopt;  // Of a heat map; without it the mean of all time.
};
// A complete SVG document. An unknown picture: the error names those that there are.
Result<std::string> draw(const RunView& view, const PictureWish& wish);

bool has_png();
Result<std::string> to_png(const std::string& svg, double scale);

}  // namespace weft::report
