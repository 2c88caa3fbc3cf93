// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>

namespace weft::detail {
namespace {

constexpr std::uint64_t weight_max = std::uint64_t{1} << 62;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <typename T>
std::errc parse_whole(std::string_view word, T& out) {
  const char* const end = word.data() + word.size();
  const auto [at, code] = std::from_chars(word.data(), end, out);
  if (code == std::errc{} && at != end) return std::errc::invalid_argument;
  // 1e400x is no number at all, whatever its size.
  if (code == std::errc::result_out_of_range && at != end) return std::errc::invalid_argument;
  return code;
}

Error too_large(std::string_view word) {
  return Error::input(
      fmt::format("'{}' is too large; at most 2^62, so use a larger unit", shown(word)));
}

Result<std::uint64_t> round_weight(double value, std::string_view word) {
  if (std::isnan(value) || std::isinf(value))
    return Error::input(fmt::format("'{}' is no amount; bytes must be finite", shown(word)));
  if (value < 0)
    return Error::input(
        fmt::format("'{}' is negative; what is sent is at least 0 bytes", shown(word)));
  if (value > static_cast<double>(weight_max)) return too_large(word);
  const auto rounded = static_cast<std::uint64_t>(std::round(value));
  // To forget a pair in silence would be worse than to ask.
  if (rounded == 0 && value > 0)
    return Error::input(fmt::format(
        "'{}' is less than half a byte; multiply all by the same large number", shown(word)));
  return rounded;
}

}  // namespace

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

std::string_view take_word(std::string_view& rest) {
  std::size_t first = 0;
  while (first < rest.size() && is_blank(rest[first])) ++first;
  std::size_t end = first;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  const std::string_view word = rest.substr(first, end - first);
  rest.remove_prefix(end);
  return word;
}

std::string shown(std::string_view word) {
  constexpr std::size_t shown_max = 40;
  std::string text(word.substr(0, shown_max));
  for (char& c : text)
    if (c < 0x20 || c > 0x7e) c = '?';
  return word.size() > shown_max ? text + "..." : text;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

Result<std::uint64_t> parse_count(std::string_view word, std::string_view noun) {
  std::uint64_t value = 0;
  const std::errc code = parse_whole(word, value);
  if (code == std::errc{}) return value;
  if (word.empty()) return Error::input(fmt::format("{} is missing", noun));
  if (code == std::errc::result_out_of_range)
    return Error::input(fmt::format("'{}' is too large for {}", shown(word), noun));
  return Error::input(
      fmt::format("'{}' is not {}; write a whole number, 0 or more", shown(word), noun));
}

Result<std::uint64_t> parse_weight(std::string_view word) {
  std::uint64_t whole = 0;
  if (parse_whole(word, whole) == std::errc{}) {
    if (whole > weight_max) return too_large(word);
    return whole;
  }
  if (word.empty()) return Error::input("a number of bytes is missing");
  double real = 0;
  const std::errc code = parse_whole(word, real);
  if (code == std::errc{}) return round_weight(real, word);
  if (code == std::errc::result_out_of_range)
    return Error::input(fmt::format("'{}' is out of range; bytes are from 0 to 2^62", shown(word)));
  const bool has_unit = word.front() >= '0' && word.front() <= '9' &&
                        std::all_of(word.begin(), word.end(), [](char c) {
                          return (c >= '0' && c <= '9') || c == '.' || c == ' ' ||
                                 (lower(c) >= 'a' && lower(c) <= 'z');
                        });
  if (!has_unit || word.size() > 40)
    return Error::input(
        fmt::format("'{}' is not a number of bytes; write 2048, 2.5e6 or 64KiB", shown(word)));
  auto bytes = parse_bytes(word);
  if (!bytes) return std::move(bytes).error();
  if (static_cast<std::uint64_t>(bytes->count) > weight_max) return too_large(word);
  return static_cast<std::uint64_t>(bytes->count);
}

TrafficFlows::TrafficFlows(const TrafficReading& how, std::string_view text)
    : asked_(how.ranks),
      limit_(how.ranks == 0 ? TrafficMatrix::ranks_max
                            : std::min(how.ranks, TrafficMatrix::ranks_max)) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  flows_.reserve(std::min(lines, std::size_t{1} << 24));  // Beyond that it grows.
}

Status TrafficFlows::declare(std::uint64_t ranks) {
  if (ranks == 0) return Error::input("no ranks; at least one must be there");
  if (ranks > TrafficMatrix::ranks_max)
    return Error::input(
        fmt::format("{} ranks; at most {} are possible", ranks, TrafficMatrix::ranks_max));
  if (asked_ != 0 && ranks > asked_)
    return Error::input(
        fmt::format("this is the traffic of {} ranks, but {} are asked for; ask for {} or more",
                    ranks, asked_, ranks));
  declared_ = static_cast<std::uint32_t>(ranks);
  limit_ = std::min<std::uint64_t>(limit_, ranks);
  if (used_ > limit_) return beyond(used_ - 1);
  return {};
}

Status TrafficFlows::add(std::uint64_t from, std::uint64_t to, std::uint64_t bytes,
                         std::uint64_t messages) {
  const std::uint64_t highest = std::max(from, to);
  if (highest >= limit_) return beyond(highest);
  if (bytes > weight_max - bytes_)
    return Error::input("the bytes up to here add up to more than 2^62; use a larger unit");
  if (messages > weight_max - messages_)
    return Error::input("the messages up to here add up to more than 2^62; leave them out");
  bytes_ += bytes;
  messages_ += messages;
  used_ = std::max(used_, highest + 1);
  flows_.push_back(
      {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), bytes, messages});
  return {};
}

Error TrafficFlows::beyond(std::uint64_t rank) const {
  if (rank >= TrafficMatrix::ranks_max)
    return Error::input(
        fmt::format("rank {}; the highest possible one is {}", rank, TrafficMatrix::ranks_max - 1));
  if (declared_ != 0 && rank >= declared_)
    return Error::input(fmt::format(
        "rank {}, but the file says that it has {} ranks, which count from 0", rank, declared_));
  return Error::input(
      fmt::format("rank {}, but {} ranks are asked for, which count from 0; ask for {} or more",
                  rank, asked_, rank + 1));
}

Result<TrafficMatrix> TrafficFlows::finish() && {
  const std::uint64_t ranks = asked_ != 0 ? asked_ : std::max<std::uint64_t>(declared_, used_);
  if (ranks == 0)
    return Error::input("no traffic in it; write lines such as '0 1 2048' (from to bytes)");
  return TrafficMatrix::make(static_cast<std::uint32_t>(ranks), std::move(flows_));
}

std::string_view first_words(std::string_view text) {
  for (TextLines lines(text); lines.next();) {
    const std::string_view line = trim(lines.line());
    if (!line.empty() && line.front() != '#') return line;
  }
  return {};
}

}  // namespace weft::detail
