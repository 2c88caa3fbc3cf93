// SPDX-License-Identifier: Apache-2.0
// News of a line (route/lines.hpp) on its way from one router to the next.
#pragma once

#include <cstdint>

namespace weft::detail {

struct NewsItem {
  std::int64_t at;      // Arrival, ps.
  std::uint64_t word;   // State of the line's elements.
  std::uint8_t port;    // The line leaves both routers by this port.
  std::uint8_t line;    // Line of the sending router.
  std::uint8_t length;  // Elements known of it; 0: as many as before.
  std::uint8_t from;    // Bits [from, from + count) of `word` are told.
  std::uint8_t count;
};

}  // namespace weft::detail
