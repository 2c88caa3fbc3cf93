// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/simulate/nodes/time_by_size.hpp>

namespace weft {

Result<TimeBySize> TimeBySize::parse(const std::vector<std::string>& points) {
  TimeBySize out;
  for (const std::string& text : points) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
      return Error::input("'" + text + "' is not a point 'SIZE: TIME', such as '1 KiB: 160 ns'");
    const auto size = parse_bytes(trim(std::string_view(text).substr(0, colon)));
    if (!size) return Error(size.error());
    const auto time = parse_duration(trim(std::string_view(text).substr(colon + 1)));
    if (!time) return Error(time.error());
    const Point last = out.points_.empty() ? Point{} : out.points_.back();
    const bool first = out.points_.empty();
    if (*time < last.time || (first ? size->count < 0 : *size <= last.size))
      return Error::input("'" + text + "': sizes and times of the points must grow");
    out.points_.push_back({*size, *time});
  }
  if (out.points_.size() == 1 && out.points_[0].size.count == 0)
    return Error::input("a second point is missing: '" + points[0] + "' has no size");
  return out;
}

Duration TimeBySize::at(Bytes size) const {
  if (points_.empty()) return {};
  Point from, to = points_.front();
  for (std::size_t i = 1; i < points_.size() && size > to.size; ++i) {
    from = to;
    to = points_[i];
  }
  if (size <= to.size && to.size.count == 0) return to.time;
  const auto rise = static_cast<detail::Wide>((to.time - from.time).in_ps());
  const auto ps = rise * (size - from.size).count / (to.size - from.size).count;
  return from.time + Duration::ps(static_cast<std::int64_t>(ps));
}

}  // namespace weft
