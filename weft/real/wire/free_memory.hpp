// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <string>

namespace weft::wire {

// In bytes: what the host has left, or the memory limits (cgroups) that this process lives under,
// if that is less. What the system keeps of files counts as free. Where neither says anything:
// UINT64_MAX. `root` is for tests: where /proc and /sys are.
std::uint64_t free_memory(const std::string& root = "");

}  // namespace weft::wire
