// SPDX-License-Identifier: Apache-2.0
// When a simulated program starts, by the clocks that it reads. Every run starts at the same
// moment, so that a program that takes its random seed from the clock is reproducible.
#pragma once

#include <cstdint>

namespace weft {

inline constexpr std::int64_t virtual_start_s = 1'767'225'600;  // 2026-01-01, 00:00 UTC

}  // namespace weft
