// SPDX-License-Identifier: Apache-2.0
// Keys of opened memory: no process outside can guess one, and none is ever used twice.
#pragma once

#include <array>
#include <cstdint>

namespace weft::wire {

// A random permutation of the 32-bit numbers, another one in each object: a counter that goes
// through it never repeats, and nobody else can tell what comes next.
class RegionKeys {
 public:
  RegionKeys();
  std::uint32_t scramble(std::uint32_t number) const;

 private:
  std::array<unsigned char, 16> secret_;
};

}  // namespace weft::wire
