// SPDX-License-Identifier: Apache-2.0
// A time that depends on a number of bytes, given by measured points: ["1 KiB: 160 ns", ...].
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

class TimeBySize {
 public:
  // Sizes and times of the points grow.
  static Result<TimeBySize> parse(const std::vector<std::string>& points);

  bool empty() const { return points_.empty(); }
  // Linear between points, and from zero to the first; the last two tell how it goes on.
  Duration at(Bytes size) const;

 private:
  struct Point {
    Bytes size;
    Duration time;
  };
  std::vector<Point> points_;
};

}  // namespace weft
