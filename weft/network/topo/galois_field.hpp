// SPDX-License-Identifier: Apache-2.0
// The finite field of q elements, q a prime power: what Slim Fly and PolarFly are built on. Private
// to topo. Elements are numbers from 0 to q-1; their digits to the base of the prime are the
// coefficients of a polynomial, the constant term lowest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::detail {

class GaloisField {
 public:
  // REQUIRES: is_prime_power(q).
  explicit GaloisField(int q);

  int size() const { return q_; }
  int add(int a, int b) const;
  int multiply(int a, int b) const {
    if (a == 0 || b == 0) return 0;
    const int sum = log_[static_cast<std::size_t>(a)] + log_[static_cast<std::size_t>(b)];
    return power(sum);
  }
  // A fixed element whose powers are all elements but 0.
  int power(int exponent) const { return power_[static_cast<std::size_t>(exponent % (q_ - 1))]; }

 private:
  int times_x(int element, int polynomial) const;
  bool fill(int polynomial);

  int q_;
  int prime_;
  std::vector<int> power_;  // By exponent, from 0 to q-2.
  std::vector<int> log_;    // By element; of 0: unused.
};

bool is_prime_power(int q);
// "q=15 is no prime power; 13 and 16 are": the nearest below, if it is at least `min`, and above.
std::string no_prime_power(int q, int min);

}  // namespace weft::detail
