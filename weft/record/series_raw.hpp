// SPDX-License-Identifier: Apache-2.0
// What a run writes as it goes, without any library: a header, then for each sample its end in ps
// (int64), a LinkSample for every link, and for every router the bytes in its buffers then
// (uint64).
#pragma once

#include <cstdint>

namespace weft {

struct SeriesHeader {
  char magic[8] = {'w', 'e', 'f', 't', 's', 'e', 'r', '2'};
  std::uint64_t links = 0, routers = 0;
  std::int64_t interval_ps = 0;
};
struct LinkSample {
  std::uint64_t bytes = 0, packets = 0;
};

}  // namespace weft
