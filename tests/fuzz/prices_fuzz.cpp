// SPDX-License-Identifier: Apache-2.0
// Fuzz target: files of prices.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/study/compare/prices.hpp>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(weft::compare::read_prices_text(text, "input").has_value());
  return 0;
}
