// SPDX-License-Identifier: Apache-2.0
// Which bytes of a message have arrived, when some may arrive twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace weft::mp {

class Covered {
 public:
  // Gives how many of these bytes are new.
  std::size_t add(std::size_t begin, std::size_t size) {
    std::size_t end = begin + size, known = 0;
    auto at = stretches_.upper_bound(begin);
    if (at != stretches_.begin() && std::prev(at)->second >= begin) --at;
    const std::size_t first = begin, last = end;
    while (at != stretches_.end() && at->first <= last) {
      const std::size_t from = std::max(at->first, first), to = std::min(at->second, last);
      if (to > from) known += to - from;
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = stretches_.erase(at);
    }
    stretches_.emplace(begin, end);
    return size - known;
  }

 private:
  std::map<std::size_t, std::size_t> stretches_;  // From, to; apart from each other.
};

}  // namespace weft::mp
