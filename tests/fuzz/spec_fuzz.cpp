// SPDX-License-Identifier: Apache-2.0
// Fuzz target: names of networks ("torus:4x4,p=2"). Numbers of more than two digits are left out:
// such networks are sound, and large.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/network/topo/topology.hpp>

namespace {

bool is_small(std::string_view text) {
  int digits = 0, numbers = 0;
  for (const char c : text) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    numbers += digits == 1 ? 1 : 0;
    if (digits > 2 || numbers > 4) return false;
  }
  return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 40));
  if (is_small(text)) static_cast<void>(weft::make_topology(text).has_value());
  return 0;
}
