// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them: "140 ns", "4 KiB", "8 GB/s". Parsing is exact or fails: decimal
// fractions are allowed as long as the result is a whole number of picoseconds, bytes, bits per
// second or millimetres, and no floating point is involved. A number without a unit is an error.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

Result<Duration> parse_duration(std::string_view text);  // ps ns us µs ms s min h
Result<Bytes> parse_bytes(std::string_view text);    // B, k M G T: kB = KB = 1000 B, KiB = 1024 B
Result<Length> parse_length(std::string_view text);  // mm cm m km
Result<Rate> parse_rate(std::string_view text);      // bits: Gb/s, Gbit/s; bytes: GB/s, GiB/s

// The shortest exact form in a unit that leaves at least one before the point: "1.5 us", "4 KiB",
// "64 Gb/s". Parsing it gives the same value (negative values can be printed but not parsed).
std::string to_text(Duration duration);
std::string to_text(Bytes size);
std::string to_text(Rate rate);
std::string to_text(Length length);

}  // namespace weft
