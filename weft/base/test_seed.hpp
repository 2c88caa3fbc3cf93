// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: the seed of a randomised test. WEFT_SEED=... replays a failure.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace weft {

inline std::uint64_t test_seed(std::uint64_t usual = 1) {
  const char* given = std::getenv("WEFT_SEED");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

// For SCOPED_TRACE: how to reproduce this failure.
inline std::string replay_text(std::uint64_t seed) {
  return "WEFT_SEED=" + std::to_string(seed);
}

}  // namespace weft
