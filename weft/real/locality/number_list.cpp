// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/number_list.hpp"

#include <weft/base/text.hpp>

namespace weft::locality {

std::string list_to_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += '-' + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text.empty() ? "-" : text;
}

Result<std::vector<int>> parse_list(std::string_view text) {
  constexpr std::int64_t most = 65'535;
  std::vector<int> numbers;
  if (text == "-") return numbers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > most)
      return Error::input("'" + std::string(text) + "' is not a list of numbers such as 0-7,16-23");
    for (std::int64_t number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<int>(number));
    if (numbers.size() > static_cast<std::size_t>(most))
      return Error::input("a list of more than 65,535 numbers");
  }
  return numbers;
}

}  // namespace weft::locality
