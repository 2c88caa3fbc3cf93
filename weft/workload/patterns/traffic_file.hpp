// SPDX-License-Identifier: Apache-2.0
// Communication patterns as files: docs/reference/traffic-file.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

struct TrafficReading;

// How surely a text is of a format.
enum class Likeness {
  none,
  possible,  // Nothing speaks against it: for the format that takes what no other does.
  likely,    // By its first lines.
  titled,    // It says so itself; then the end of its name does not matter.
};

// A format of files. One row of formats.inc each; the file that reads it defines the row.
struct TrafficFormat {
  std::string_view name;
  std::span<const std::string_view> name_ends;  // ".csv", in small letters.
  // A small text of this format: two ranks that send each other 2048 bytes. Empty: none.
  std::string_view example;
  Likeness (*recognise)(std::string_view text) = nullptr;
  // Errors name the line, but not the file. Null: read by another module (`traces`), as simulated
  // programs link this one and need no library of traces.
  Result<TrafficMatrix> (*read)(std::string_view text, const TrafficReading& how) = nullptr;
};

std::span<const TrafficFormat> traffic_formats();

struct TrafficReading {
  // 0: as many as the file says or uses. More are silent ones; fewer are an error.
  std::uint32_t ranks = 0;
  const TrafficFormat* format = nullptr;  // Null: by the first lines, then by the end of the name.
};

// A row by its name; null for "automatic".
Result<const TrafficFormat*> parse_traffic_format(std::string_view name);

// "-" is the standard input. An error names the line.
Result<TrafficMatrix> read_traffic(const std::string& path, const TrafficReading& how);

// The same from memory; `name` stands in messages, and its end tells the format when nothing else
// does.
Result<TrafficMatrix> read_traffic_text(std::string_view text, const std::string& name,
                                        const TrafficReading& how);

// What `weft sim --matrix` writes, and read_traffic reads back unchanged.
std::string write_traffic_text(const TrafficMatrix& matrix);

}  // namespace weft
