// SPDX-License-Identifier: Apache-2.0
// Random numbers that are a function of (seed, stream, counter): no state is shared, so the order
// in which components draw cannot change what they draw. The generator hashes a counter
// (SplitMix64's finaliser, applied twice with the key in between). No floating point inside.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <cstdint>
#include <string_view>

#include <weft/base/units.hpp>

namespace weft {

// A bijection of 64-bit words that passes for random (Stafford's variant 13).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : key_(mix(seed + 0x9e3779b97f4a7c15u)) {}

  // An independent generator for a named component. Adding a component does not change the numbers
  // of the others.
  constexpr Rng stream(std::string_view name, std::uint64_t index = 0) const {
    std::uint64_t hash = key_ ^ 0xcbf29ce484222325u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    Rng made(0);
    made.key_ = mix(mix(hash) + index * 0x9e3779b97f4a7c15u);
    return made;
  }

  // Random access to any position of the sequence.
  constexpr std::uint64_t at(std::uint64_t counter) const {
    return mix(key_ + mix(counter + 0x632be59bd9b4e019u));
  }
  constexpr std::uint64_t next() { return at(counter_++); }

  // Uniform in [0, bound), exactly (Lemire's rejection). bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    detail::UnsignedWide product = static_cast<detail::UnsignedWide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t floor = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < floor)
        product = static_cast<detail::UnsignedWide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }
  constexpr bool coin() { return (next() >> 63) != 0; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace weft
