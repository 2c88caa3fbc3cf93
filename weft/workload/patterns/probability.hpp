// SPDX-License-Identifier: Apache-2.0
// Probabilities as whole multiples of 2^-64, and the waiting time for an event of such a
// probability. Integers only: the same draws everywhere, whatever the machine's libm.
#pragma once  // Public only for injection.hpp: no promise beyond what that one needs.

#include <cstdint>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/units.hpp>

namespace weft {

class Probability {
 public:
  constexpr Probability() = default;  // Never.
  static constexpr Probability always() {
    Probability made;
    made.sure_ = true;
    return made;
  }
  // Rounded down to a multiple of 2^-64. REQUIRES: 0 <= part <= of, of > 0.
  static constexpr Probability ratio(std::uint64_t part, std::uint64_t of) {
    WEFT_CHECK(of > 0 && part <= of);
    if (part == of) return always();
    Probability made;
    made.part_ = static_cast<std::uint64_t>((static_cast<detail::UnsignedWide>(part) << 64) / of);
    return made;
  }
  // Exact: a double below one and above 2^-11 is such a multiple. REQUIRES: 0 <= p <= 1.
  static constexpr Probability of(double p) {
    WEFT_CHECK(p >= 0 && p <= 1);
    if (p == 1) return always();
    Probability made;
    made.part_ = static_cast<std::uint64_t>(p * 18446744073709551616.0);  // 2^64
    return made;
  }

  constexpr bool never() const { return !sure_ && part_ == 0; }
  constexpr bool sure() const { return sure_; }
  constexpr std::uint64_t part() const { return part_; }  // In 2^-64; REQUIRES: !sure().
  constexpr bool happens(Rng& rng) const { return sure_ || rng.next() < part_; }

 private:
  bool sure_ = false;
  std::uint64_t part_ = 0;
};

// How many trials until the first success, at least 1: P(gap > n) = q^n with q = 1 - p. One draw u
// gives the largest n with u < q^n, found digit by digit from the powers q^(2^i), each rounded down
// once to 2^-64; the probability of any gap is right to within 2^-57. The same draw gives a shorter
// gap at a higher probability, so that neighbouring loads see similar traffic.
class Geometric {
 public:
  explicit Geometric(Probability success);  // REQUIRES: !success.never().
  std::int64_t draw(Rng& rng) const { return gap(rng.next()); }
  std::int64_t gap(std::uint64_t u) const;

 private:
  std::vector<std::uint64_t> powers_;  // q^(2^i) in units of 2^-64, as long as they are not zero.
};

}  // namespace weft
