// SPDX-License-Identifier: Apache-2.0
#include "weft/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace weft {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Edit distance in which swapping neighbours is one edit ("vsc" is one from "vcs"), ignoring case.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

// "'ugal-l' or 'ugal-g'": the known words that begin with `word`; empty if it is too short to tell,
// or if there are too many.
std::string longer_words(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t letters_min = 3, words_max = 3;
  std::vector<std::string_view> longer;
  for (const std::string_view candidate : known)
    if (candidate.size() > word.size() && edits(word, candidate.substr(0, word.size())) == 0)
      longer.push_back(candidate);
  if (word.size() < letters_min || longer.size() > words_max) return {};
  std::string text;
  for (const std::string_view one : longer)
    text += fmt::format("{}'{}'", text.empty() ? "" : one == longer.back() ? " or " : ", ", one);
  return text;
}

template <typename T>
bool parse_whole(std::string_view text, T& out, std::errc& failure) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  failure = code;
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = text.find(separator);
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
}

Result<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  std::errc failure{};
  if (parse_whole(text, value, failure)) return value;
  if (failure == std::errc::result_out_of_range)
    return Error::input(fmt::format("'{}' is too large for a whole number", text));
  return Error::input(fmt::format("'{}' is not a whole number", text));
}

Result<double> parse_number(std::string_view text) {
  double value = 0;
  std::errc failure{};
  if (parse_whole(text, value, failure) && std::isfinite(value)) return value;
  if (failure == std::errc::result_out_of_range)
    return Error::input(fmt::format("'{}' is out of range", text));
  return Error::input(fmt::format("'{}' is not a number", text));
}

std::string suggest(std::string_view word, std::span<const std::string_view> known) {
  if (known.empty()) return {};
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edits(word, candidate);
    // A word whose letters all differ is no suggestion, however short it is.
    if (distance < fewest && distance < candidate.size()) {
      fewest = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  if (const std::string longer = longer_words(word, known); !longer.empty())
    return fmt::format("; did you mean {}?", longer);
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace weft
