// SPDX-License-Identifier: Apache-2.0
// Which of two lines ahead is the freer one: the comparison at the heart of Cross-Line (Mori,
// Yokota, Ootsu, Baba). Compare alternately, from the nearest on: the longer free run wins, then
// the shorter busy run. If all are equal, the longer line wins.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/network/route/lines.hpp>

namespace weft::detail {

enum class Shorter {
  counts_zero,  // A line that is used up has runs of nothing.
  loses,        // Where the shorter one ends, the longer has won.
};

// Elements from `at` on that are `value`; a run ends with its line.
inline int run_of(LineNews line, int at, bool value) {
  if (at >= line.length) return 0;
  const std::uint64_t rest = line.word >> at;
  return std::min(line.length - at, std::countr_one(value ? rest : ~rest));
}

// Below 0: a is freer; above 0: b; 0: no difference.
inline int compare_lines(LineNews a, LineNews b, Shorter shorter = Shorter::counts_zero) {
  const int by_length = b.length - a.length;
  if (shorter == Shorter::loses) a.length = b.length = std::min(a.length, b.length);
  for (int i = 0, j = 0; i < a.length || j < b.length;) {
    int p = run_of(a, i, true), q = run_of(b, j, true);
    if (p != q) return q - p;
    i += p;
    j += q;
    p = run_of(a, i, false);
    q = run_of(b, j, false);
    if (p != q) return p - q;
    i += p;
    j += q;
  }
  return by_length;
}

}  // namespace weft::detail
