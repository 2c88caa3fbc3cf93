// SPDX-License-Identifier: Apache-2.0
// Time, size, length and rate as types. No implicit conversion in or out: a number without a unit
// is a bug.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <compare>
#include <cstdint>
#include <limits>

#include <weft/base/check.hpp>

namespace weft {

namespace detail {
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
}  // namespace detail

// A length of virtual time: signed 64-bit picoseconds (106 days).
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration ps(std::int64_t count) { return Duration(count); }
  static constexpr Duration ns(std::int64_t count) { return Duration(count * 1'000); }
  static constexpr Duration us(std::int64_t count) { return Duration(count * 1'000'000); }
  static constexpr Duration ms(std::int64_t count) { return Duration(count * 1'000'000'000); }
  static constexpr Duration zero() { return Duration(0); }
  static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max() / 2); }

  constexpr std::int64_t in_ps() const { return ps_; }
  constexpr double in_ns() const { return static_cast<double>(ps_) / 1e3; }
  constexpr double in_seconds() const { return static_cast<double>(ps_) / 1e12; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ps_ + b.ps_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ps_ - b.ps_); }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration(a.ps_ * n); }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return a * n; }
  friend constexpr std::int64_t operator/(Duration a, Duration b) { return a.ps_ / b.ps_; }
  friend constexpr Duration operator/(Duration a, std::int64_t n) { return Duration(a.ps_ / n); }
  constexpr Duration& operator+=(Duration b) { return *this = *this + b; }
  constexpr Duration& operator-=(Duration b) { return *this = *this - b; }

 private:
  explicit constexpr Duration(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

// A point on the virtual clock. Time + Time does not compile, on purpose.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time zero() { return Time(); }
  static constexpr Time ps(std::int64_t since_start) { return Time(Duration::ps(since_start)); }
  static constexpr Time never() { return Time(Duration::max()); }

  constexpr Duration since_start() const { return since_start_; }
  constexpr std::int64_t in_ps() const { return since_start_.in_ps(); }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.since_start_ + d); }
  friend constexpr Time operator-(Time t, Duration d) { return Time(t.since_start_ - d); }
  friend constexpr Duration operator-(Time a, Time b) { return a.since_start_ - b.since_start_; }

 private:
  explicit constexpr Time(Duration d) : since_start_(d) {}
  Duration since_start_;
};

struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.count * n}; }
  friend constexpr std::int64_t operator/(Bytes a, Bytes b) { return a.count / b.count; }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }
};

struct Length {
  std::int64_t mm = 0;

  friend constexpr auto operator<=>(Length, Length) = default;
};

// Bits per second, whole and exact.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bit_per_s(std::int64_t count) { return Rate(count); }
  static constexpr Rate gbit_per_s(std::int64_t count) { return Rate(count * 1'000'000'000); }
  static constexpr Rate gbyte_per_s(std::int64_t count) { return gbit_per_s(count * 8); }

  constexpr std::int64_t in_bit_per_s() const { return bit_per_s_; }
  constexpr double in_byte_per_s() const { return static_cast<double>(bit_per_s_) / 8.0; }

  friend constexpr auto operator<=>(Rate, Rate) = default;

 private:
  explicit constexpr Rate(std::int64_t bit_per_s) : bit_per_s_(bit_per_s) {}
  std::int64_t bit_per_s_ = 0;
};

// Time to put `size` on a wire, rounded up once, for the whole packet; never rounded per byte.
// Rounded up because a packet that ends a picosecond late is harmless, while one that ends early
// overlaps the next on the wire.
constexpr Duration serialise(Bytes size, Rate rate) {
  WEFT_CHECK(rate.in_bit_per_s() > 0);
  const detail::Wide bit_ps = static_cast<detail::Wide>(size.count) * 8 * 1'000'000'000'000;
  return Duration::ps(
      static_cast<std::int64_t>((bit_ps + rate.in_bit_per_s() - 1) / rate.in_bit_per_s()));
}
static_assert(serialise(Bytes{4096}, Rate::gbit_per_s(3200)) == Duration::ps(10240));

}  // namespace weft
