// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/decimal.hpp"

#include <algorithm>
#include <string>

#include <weft/base/text.hpp>

namespace weft {
namespace {

constexpr int places_max = 9;

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

double Decimal::value() const {
  // Both are exact as doubles where digits < 2^53, and a division rounds once.
  return static_cast<double>(digits) / static_cast<double>(power_of_ten(places));
}

Result<Decimal> parse_decimal(std::string_view text) {
  const std::string_view number = trim(text);
  const auto refuse = [&](const char* why) {
    return Error::input("'" + std::string(text) + "' " + why);
  };
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view part =
      point == std::string_view::npos ? std::string_view() : number.substr(point + 1);
  std::string digits(whole);
  digits += part;
  const bool plain =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.empty() || !plain) return refuse("is not a decimal number such as 0.25");
  if (part.size() > static_cast<std::size_t>(places_max))
    return refuse("has more than nine places after the point");
  const auto value = parse_int(digits);
  const int places = static_cast<int>(part.size());
  if (!value || *value / power_of_ten(places) > 1'000'000'000) return refuse("is too large");
  return Decimal{*value, places};
}

std::vector<std::int64_t> to_common_places(std::span<const Decimal> numbers, int& places) {
  places = 0;
  for (const Decimal& number : numbers) places = std::max(places, number.places);
  std::vector<std::int64_t> scaled;
  scaled.reserve(numbers.size());
  for (const Decimal& number : numbers)
    scaled.push_back(number.digits * power_of_ten(places - number.places));
  return scaled;
}

}  // namespace weft
