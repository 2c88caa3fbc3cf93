// SPDX-License-Identifier: Apache-2.0
// A line of text that is put together without allocation, for signal handlers.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/units.hpp>

namespace weft {

// Text beyond its size is cut.
class CrashText {
 public:
  CrashText& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), line_.size() - size_);
    std::copy_n(text.data(), size, line_.data() + size_);
    size_ += size;
    return *this;
  }
  CrashText& operator<<(std::unsigned_integral auto number) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), std::uint64_t{number}).ptr;
    return *this << std::string_view(digits.begin(), end);
  }
  // In microseconds with three digits after the point.
  CrashText& operator<<(Time time) {
    const auto ns = static_cast<std::uint64_t>(time.in_ps() + 500) / 1000;
    const auto rest = static_cast<unsigned>(ns % 1000);
    const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
    return *this << ns / 1000 << std::string_view(digits, sizeof digits) << " us";
  }
  std::string_view text() const { return {line_.data(), size_}; }

 private:
  std::array<char, 320> line_;
  std::size_t size_ = 0;
};

}  // namespace weft
