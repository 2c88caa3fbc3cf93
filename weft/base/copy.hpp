// SPDX-License-Identifier: Apache-2.0
// A memcpy that avoids the call for a few bytes, the most common size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {

inline void copy_bytes(void* to, const void* from, std::size_t size) {
  auto* const t = static_cast<std::byte*>(to);
  const auto* const f = static_cast<const std::byte*>(from);
  if (size > 16) {
    std::memcpy(t, f, size);
    return;
  }
  if (size < 4) {
    for (std::size_t i = 0; i < size; ++i) t[i] = f[i];
    return;
  }
  // Copies the first and the last word, which may overlap.
  if (size >= 8) {
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, f, 8);
    std::memcpy(&last, f + size - 8, 8);
    std::memcpy(t, &first, 8);
    std::memcpy(t + size - 8, &last, 8);
  } else {
    std::uint32_t first = 0, last = 0;
    std::memcpy(&first, f, 4);
    std::memcpy(&last, f + size - 4, 4);
    std::memcpy(t, &first, 4);
    std::memcpy(t + size - 4, &last, 4);
  }
}

}  // namespace weft
