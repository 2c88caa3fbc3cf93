// SPDX-License-Identifier: Apache-2.0
// A communication pattern from whatever file the user has.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_file.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

// As read_traffic, and OTF2 archives too (by the end of the name, *.otf2, or when asked for).
Result<TrafficMatrix> read_any_traffic(const std::string& path, const TrafficReading& how);

}  // namespace weft
