// SPDX-License-Identifier: Apache-2.0
// Numbers with units, for people.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <weft/output/report/view.hpp>

namespace weft::report {

namespace {

std::string scaled(double value, double first, std::initializer_list<const char*> units) {
  double size = first;
  const char* const* unit = units.begin();
  while (unit + 1 != units.end() && std::abs(value) >= 1000 * size) {
    size *= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value / size, *unit);
}

}  // namespace

std::string pretty(double value, const Unit& unit) {
  if (unit == "ps") {
    if (std::abs(value) >= 1e12) return fmt::format("{:.4g} s", value / 1e12);
    return scaled(value, 1, {"ps", "ns", "us", "ms"});
  }
  if (unit == "B") return scaled(value, 1, {"B", "kB", "MB", "GB", "TB", "PB"});
  if (unit == "B/s") return scaled(value, 1, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
  if (unit == "b/s") return scaled(value, 1, {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"});
  if (unit == "share") return fmt::format("{:.3g} %", 100 * value);
  if (unit == "cycles") return fmt::format("{:.4g} cycles", value);
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return fmt::format("{}", static_cast<long long>(value));
  return fmt::format("{:.5g}", value);
}

}  // namespace weft::report
