// SPDX-License-Identifier: Apache-2.0
// Along one axis of a cube, from one coordinate to another.
#pragma once

namespace weft::map {

struct AxisRun {
  int length = 0;
  bool down = false;
  bool half = false;  // Exactly half-way round a ring: down would be as short.
};

inline AxisRun axis_run(int radix, bool wrap, int from, int to) {
  const int ahead = wrap ? (to - from + radix) % radix : to - from;
  const bool down = wrap ? 2 * ahead > radix : ahead < 0;
  return {!down ? ahead : wrap ? radix - ahead : -ahead, down, wrap && 2 * ahead == radix};
}

}  // namespace weft::map
