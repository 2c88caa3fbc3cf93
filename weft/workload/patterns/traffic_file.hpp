// SPDX-License-Identifier: Apache-2.0
// Communication patterns as files: docs/reference/traffic-file.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

enum class TrafficFormat {
  automatic,  // By the first lines, then by the end of the name.
  text,
  csv,
  matrix_market,
  metis,
  otf2,  // Not read here: simulated programs link this module, and need no library of traces.
};

struct TrafficReading {
  // 0: as many as the file says or uses. More are silent ones; fewer are an error.
  std::uint32_t ranks = 0;
  TrafficFormat format = TrafficFormat::automatic;
};

// "automatic", "text", "csv", "matrix-market", "metis", "otf2".
Result<TrafficFormat> parse_traffic_format(std::string_view name);

// "-" is the standard input. An error names the line.
Result<TrafficMatrix> read_traffic(const std::string& path, const TrafficReading& how);

// The same from memory; `name` stands in messages, and its end tells the format when nothing else
// does.
Result<TrafficMatrix> read_traffic_text(std::string_view text, const std::string& name,
                                        const TrafficReading& how);

// What `weft sim --matrix` writes, and read_traffic reads back unchanged.
std::string write_traffic_text(const TrafficMatrix& matrix);

}  // namespace weft
