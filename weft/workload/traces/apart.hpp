// SPDX-License-Identifier: Apache-2.0
// Work with a library that may crash on bad input, in a process of its own.
#pragma once

#include <functional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft::detail {

// What `read` answers; if it crashes, an error about `path`.
Result<TrafficMatrix> read_apart(const std::string& path,
                                 const std::function<Result<TrafficMatrix>()>& read);

}  // namespace weft::detail
