// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/any_traffic.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <weft/workload/traces/apart.hpp>
#include <weft/workload/traces/otf2.hpp>

namespace weft {

Result<TrafficMatrix> read_any_traffic(const std::string& path, const TrafficReading& how) {
  const bool is_trace =
      how.format != nullptr ? how.format->read == nullptr : path.ends_with(".otf2");
  if (!is_trace) return read_traffic(path, how);
  // The library trusts the numbers in an archive's anchor file, and may crash on a damaged one.
  auto read = detail::read_apart(path, [&] { return read_otf2(path); });
  if (!read || how.ranks == 0 || how.ranks == read->ranks()) return read;
  if (how.ranks < read->ranks())
    return Error::input(
               fmt::format("this is the traffic of {} ranks, but {} are asked for; ask for {} or "
                           "more",
                           read->ranks(), how.ranks, read->ranks()))
        .at(path, 0);
  return TrafficMatrix::make(how.ranks, {read->flows().begin(), read->flows().end()});
}

}  // namespace weft
