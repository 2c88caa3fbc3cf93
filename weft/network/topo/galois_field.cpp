// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/galois_field.hpp"

#include <fmt/core.h>

#include <weft/base/check.hpp>

namespace weft::detail {
namespace {

int smallest_factor(int n) {
  for (int f = 2; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

}  // namespace

bool is_prime_power(int q) {
  if (q < 2) return false;
  const int prime = smallest_factor(q);
  while (q % prime == 0) q /= prime;
  return q == 1;
}

std::string no_prime_power(int q, int min) {
  int below = q - 1;
  while (below >= min && !is_prime_power(below)) --below;
  int above = q + 1;
  while (!is_prime_power(above)) ++above;
  if (below < min) return fmt::format("q={} is no prime power; {} is", q, above);
  return fmt::format("q={} is no prime power; {} and {} are", q, below, above);
}

GaloisField::GaloisField(int q) : q_(q), prime_(smallest_factor(q)) {
  WEFT_CHECK(is_prime_power(q));
  power_.resize(static_cast<std::size_t>(q - 1));
  log_.resize(static_cast<std::size_t>(q));
  // A polynomial modulo which the powers of x are all elements but 0; there always is one.
  int polynomial = 1;
  while (!fill(polynomial)) ++polynomial;
}

int GaloisField::add(int a, int b) const {
  int sum = 0;
  for (int digit = 1; digit < q_; digit *= prime_) {
    sum += (a % prime_ + b % prime_) % prime_ * digit;
    a /= prime_;
    b /= prime_;
  }
  return sum;
}

// Modulo x^m = `polynomial`, where q = prime^m: the highest digit moves out and comes back as that
// many times the polynomial.
int GaloisField::times_x(int element, int polynomial) const {
  const int top = q_ / prime_;
  int product = element % top * prime_;
  for (int i = element / top; i > 0; --i) product = add(product, polynomial);
  return product;
}

bool GaloisField::fill(int polynomial) {
  WEFT_CHECK(polynomial < q_);
  int element = 1;
  for (int exponent = 0; exponent < q_ - 1; ++exponent) {
    if (element == 0 || (element == 1 && exponent > 0)) return false;
    power_[static_cast<std::size_t>(exponent)] = element;
    log_[static_cast<std::size_t>(element)] = exponent;
    element = times_x(element, polynomial);
  }
  return element == 1;
}

}  // namespace weft::detail
