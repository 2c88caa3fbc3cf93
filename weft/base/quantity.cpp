// SPDX-License-Identifier: Apache-2.0
#include "weft/base/quantity.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

using detail::UnsignedWide;

struct Unit {
  std::string_view name;
  std::int64_t factor;  // In the integer unit of the type.
};

constexpr std::int64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000,
                       tera = 1'000'000'000'000;
constexpr std::int64_t kibi = 1 << 10, mebi = 1 << 20, gibi = 1 << 30, tebi = std::int64_t{1} << 40;

constexpr Unit duration_units[] = {
    {"ps", 1},          {"ns", kilo}, {"us", mega}, {"µs", mega},        // U+00B5, the micro sign
    {"μs", mega},       {"ms", giga}, {"s", tera},  {"min", 60 * tera},  // U+03BC, the Greek mu
    {"h", 3600 * tera},
};
constexpr Unit size_units[] = {
    {"B", 1},      {"kB", kilo}, {"KB", kilo},  {"KiB", kibi}, {"MB", mega},
    {"MiB", mebi}, {"GB", giga}, {"GiB", gibi}, {"TB", tera},  {"TiB", tebi},
};
constexpr Unit rate_units[] = {
    {"b/s", 1},          {"kb/s", kilo},      {"Mb/s", mega},      {"Gb/s", giga},
    {"Tb/s", tera},      {"bit/s", 1},        {"kbit/s", kilo},    {"Mbit/s", mega},
    {"Gbit/s", giga},    {"Tbit/s", tera},    {"B/s", 8},          {"kB/s", 8 * kilo},
    {"KB/s", 8 * kilo},  {"MB/s", 8 * mega},  {"GB/s", 8 * giga},  {"TB/s", 8 * tera},
    {"KiB/s", 8 * kibi}, {"MiB/s", 8 * mebi}, {"GiB/s", 8 * gibi}, {"TiB/s", 8 * tebi},
};
constexpr Unit length_units[] = {{"mm", 1}, {"cm", 10}, {"m", kilo}, {"km", mega}};

struct Kind {
  std::string_view noun;     // "a duration"
  std::string_view example;  // Shown when the unit is missing.
  std::string_view whole;    // Integer unit of the type.
  std::span<const Unit> units;
  std::int64_t limit;
};

constexpr Kind duration_kind{"a duration", "140 ns", "picoseconds", duration_units,
                             Duration::max().in_ps()};
constexpr Kind size_kind{"a size", "256 B", "bytes", size_units,
                         std::numeric_limits<std::int64_t>::max()};
constexpr Kind length_kind{"a length", "5 m", "millimetres", length_units,
                           std::numeric_limits<std::int64_t>::max()};
constexpr Kind rate_kind{"a rate", "8 GB/s", "bit/s", rate_units,
                         std::numeric_limits<std::int64_t>::max()};

const Unit* find_unit(const Kind& kind, std::string_view name) {
  for (const Unit& unit : kind.units)
    if (unit.name == name) return &unit;
  return nullptr;
}

// Bits and bytes differ by a factor of 8, so a remedy must not exchange them: the case of the
// letter decides, and where the whole word is careless about case both are named.
enum class Letter { bits, bytes, either, none };

// What an unknown unit of a size or a rate seems to mean.
struct Meaning {
  std::string prefix;  // "G" or "Gi"; empty without one.
  Letter letter = Letter::none;
  bool spelled_bit = false;  // "Gbit", not "Gb".
};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

std::string lower_case(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return made;
}

// A lone letter b means bits in a word whose prefix is written as it should be ("Gbps", "kbps"),
// and B means bytes unless the word is all capitals ("GBPS").
Letter letter_of(std::string_view name, std::size_t at) {
  const std::string_view prefix = name.substr(0, at);
  if (name[at] == 'b')
    return prefix.empty() || is_upper(prefix[0]) || prefix == "k" ? Letter::bits : Letter::either;
  for (const char c : name)
    if (c >= 'a' && c <= 'z') return Letter::bytes;
  return name.size() == at + 1 ? Letter::bytes : Letter::either;
}

std::optional<Meaning> meaning_of(std::string_view name) {
  const std::string low = lower_case(name);
  Meaning made;
  std::size_t at = 0;
  const std::size_t step = std::string_view("kmgt").find(low.empty() ? ' ' : low[0]);
  if (step != std::string_view::npos) made.prefix = "kMGT"[step], at = 1;
  if (at == 1 && low.substr(1, 1) == "i") {
    made.prefix = fmt::format("{}i", "KMGT"[step]);
    at = 2;
  }
  std::string_view rest = std::string_view(low).substr(at);
  const auto take = [&rest](std::string_view word) {
    const bool there = rest.substr(0, word.size()) == word;
    if (there) rest.remove_prefix(word.size());
    return there;
  };
  if (take("byte")) {
    made.letter = Letter::bytes;
  } else if (take("bit")) {
    made.letter = Letter::bits;
    made.spelled_bit = true;
  } else if (take("b")) {
    made.letter = letter_of(name, at);
  }
  for (const std::string_view end : {"", "s", "/s", "ps", "p/s", "s/s", "/sec", "s/sec", "psec",
                                     "/second", "s/second", " per second", "s per second"})
    if (rest == end && (!made.prefix.empty() || made.letter != Letter::none)) return made;
  return std::nullopt;
}

// "; did you mean 'GB/s'?"; empty if the word means nothing that this kind has.
std::string unit_remedy(const Kind& kind, const Meaning& meant) {
  const bool is_rate = &kind == &rate_kind;
  const std::string_view end = is_rate ? "/s" : "";
  const std::string bytes = fmt::format("{}B{}", meant.prefix, end);
  const std::string bits =
      fmt::format("{}{}{}", meant.prefix, meant.spelled_bit ? "bit" : "b", end);
  if (find_unit(kind, bytes) == nullptr) return {};
  if (meant.letter == Letter::bytes || (meant.letter == Letter::either && !is_rate))
    return fmt::format("; did you mean '{}'?", bytes);
  if (meant.letter == Letter::none && !is_rate)
    return meant.prefix.size() == 2 ? fmt::format("; did you mean '{}'?", bytes)
                                    : fmt::format("; did you mean '{}' or '{}iB'?", bytes,
                                                  meant.prefix == "k" ? "K" : meant.prefix);
  if (find_unit(kind, bits) == nullptr)  // Sizes and binary prefixes count bytes.
    return fmt::format("; did you mean '{}' (bytes, of 8 bits each)?", bytes);
  if (meant.letter == Letter::bits) return fmt::format("; did you mean '{}'?", bits);
  return fmt::format("; did you mean '{}' (bits) or '{}' (bytes, 8 times as fast)?", bits, bytes);
}

std::string suggest_unit(const Kind& kind, std::string_view name) {
  if (&kind == &rate_kind || &kind == &size_kind)
    if (const auto meant = meaning_of(name))
      if (std::string remedy = unit_remedy(kind, *meant); !remedy.empty()) return remedy;
  // A word that means nothing: the nearest unit with the same letter.
  std::vector<std::string_view> known;
  for (const char letter : {'b', 'B'})
    if (name.find(letter) != std::string_view::npos)
      for (const Unit& unit : kind.units)
        if (unit.name.find(letter) != std::string_view::npos) known.push_back(unit.name);
  if (known.empty())
    for (const Unit& unit : kind.units) known.push_back(unit.name);
  return suggest(name, known);
}

Error bad_unit(const Kind& kind, std::string_view text, std::string_view name) {
  for (const Kind* other : {&duration_kind, &size_kind, &rate_kind, &length_kind})
    if (find_unit(*other, name) != nullptr)
      return Error::input(fmt::format("'{}' is {}; {} is needed, e.g. '{}'", text, other->noun,
                                      kind.noun, kind.example));
  return Error::input(
      fmt::format("'{}': unknown unit '{}'{}", text, name, suggest_unit(kind, name)));
}

// digits / 10^places, without trailing zeros in the fraction.
struct Decimal {
  UnsignedWide digits = 0;
  int places = 0;
};

// Enough for any 64-bit result in any unit; multiplied by the largest factor it still fits 128
// bits.
constexpr int digits_max = 22;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Result<Decimal> parse_decimal(std::string_view text, std::string_view number) {
  const Error malformed = Error::input(fmt::format("'{}' is not a number with a unit", text));
  const std::size_t point = number.find('.');
  std::string_view whole = number.substr(0, point);
  std::string_view fraction;
  if (point != std::string_view::npos) {
    fraction = number.substr(point + 1);
    if (fraction.empty()) return malformed;
  }
  if (whole.empty() || fraction.find('.') != std::string_view::npos) return malformed;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  if (whole.size() + fraction.size() > digits_max)
    return Error::input(fmt::format("'{}' has too many digits", text));
  Decimal made;
  for (const std::string_view part : {whole, fraction})
    for (const char c : part) made.digits = made.digits * 10 + static_cast<unsigned>(c - '0');
  made.places = static_cast<int>(fraction.size());
  return made;
}

Result<std::int64_t> parse_quantity(const Kind& kind, std::string_view raw) {
  const std::string_view text = trim(raw);
  if (text.empty())
    return Error::input(fmt::format("{} is needed, e.g. '{}'", kind.noun, kind.example));
  if (text.front() == '-')
    return Error::input(fmt::format("'{}': {} must not be negative", text, kind.noun));
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  auto number = parse_decimal(text, text.substr(0, end));
  if (!number) return std::move(number).error();
  const std::string_view name = trim(text.substr(end));
  if (name.empty())
    return Error::input(fmt::format("'{}' needs a unit, e.g. '{}'", text, kind.example));
  const Unit* unit = find_unit(kind, name);
  if (unit == nullptr) return bad_unit(kind, text, name);

  UnsignedWide value = number->digits * static_cast<UnsignedWide>(unit->factor);
  for (int place = 0; place < number->places; ++place) {
    if (value % 10 != 0)
      return Error::input(fmt::format("'{}' is not a whole number of {}", text, kind.whole));
    value /= 10;
  }
  if (value > static_cast<UnsignedWide>(kind.limit))
    return Error::input(fmt::format("'{}' is too large", text));
  return static_cast<std::int64_t>(value);
}

// value / factor as a decimal with at most `places_max` places, or empty if that is not exact.
std::string ratio_text(std::uint64_t value, std::uint64_t factor, int places_max) {
  std::string text = fmt::format("{}", value / factor);
  UnsignedWide rest = value % factor;
  if (rest != 0) text += '.';
  for (int place = 0; rest != 0; ++place) {
    if (place == places_max) return {};
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / factor));
    rest %= factor;
  }
  return text;
}

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// Uses the largest unit that leaves at least one before the point. Units are ascending powers of
// ten, so the result is exact.
std::string decimal_text(std::int64_t value, std::span<const Unit> units) {
  const std::uint64_t size = magnitude(value);
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (size >= static_cast<std::uint64_t>(unit.factor)) best = &unit;
  return fmt::format("{}{} {}", value < 0 ? "-" : "",
                     ratio_text(size, static_cast<std::uint64_t>(best->factor), 19), best->name);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  auto count = parse_quantity(duration_kind, text);
  if (!count) return std::move(count).error();
  return Duration::ps(*count);
}

Result<Bytes> parse_bytes(std::string_view text) {
  auto count = parse_quantity(size_kind, text);
  if (!count) return std::move(count).error();
  return Bytes{*count};
}

Result<Rate> parse_rate(std::string_view text) {
  auto count = parse_quantity(rate_kind, text);
  if (!count) return std::move(count).error();
  return Rate::bit_per_s(*count);
}

Result<Length> parse_length(std::string_view text) {
  auto count = parse_quantity(length_kind, text);
  if (!count) return std::move(count).error();
  return Length{*count};
}

std::string to_text(Length length) {
  static constexpr Unit units[] = {{"mm", 1}, {"m", kilo}, {"km", mega}};
  return decimal_text(length.mm, units);
}

std::string to_text(Duration duration) {
  static constexpr Unit units[] = {
      {"ps", 1}, {"ns", kilo}, {"us", mega}, {"ms", giga}, {"s", tera}};
  if (duration == Duration::zero()) return "0 s";
  return decimal_text(duration.in_ps(), units);
}

std::string to_text(Rate rate) {
  static constexpr Unit units[] = {
      {"b/s", 1}, {"kb/s", kilo}, {"Mb/s", mega}, {"Gb/s", giga}, {"Tb/s", tera}};
  return decimal_text(rate.in_bit_per_s(), units);
}

std::string to_text(Bytes size) {
  static constexpr Unit units[] = {{"B", 1},      {"KiB", kibi}, {"kB", kilo},
                                   {"MiB", mebi}, {"MB", mega},  {"GiB", gibi},
                                   {"GB", giga},  {"TiB", tebi}, {"TB", tera}};
  // A fraction such as 1.0009765625 KiB is exact but unreadable.
  constexpr int places_max = 3;
  const std::uint64_t count = magnitude(size.count);
  std::string number = fmt::format("{}", count);
  std::string_view name = "B";
  for (const Unit& unit : units) {
    if (count < static_cast<std::uint64_t>(unit.factor)) continue;
    std::string candidate = ratio_text(count, static_cast<std::uint64_t>(unit.factor), places_max);
    if (candidate.empty() || candidate.size() >= number.size()) continue;
    number = std::move(candidate);
    name = unit.name;
  }
  return fmt::format("{}{} {}", size.count < 0 ? "-" : "", number, name);
}

}  // namespace weft
