// SPDX-License-Identifier: Apache-2.0
// How a large copy between two ranks of a host is cut, so that both can work on it: each takes the
// next stretch. Real and simulated nodes cut alike.
#pragma once

#include <cstdint>

namespace weft {

// Smaller copies are made by the sender alone.
inline constexpr std::uint64_t shared_copy_min = std::uint64_t{24} << 10;

inline constexpr std::uint64_t copy_stretch(std::uint64_t size) {
  constexpr std::uint64_t least = std::uint64_t{16} << 10, most = std::uint64_t{256} << 10;
  const std::uint64_t part = size / 8;
  return (part < least ? least : part > most ? most : part + 4095) / 4096 * 4096;
}

}  // namespace weft
