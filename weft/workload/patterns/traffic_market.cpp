// SPDX-License-Identifier: Apache-2.0
// Matrix Market: row i, column j is what rank i - 1 sends to rank j - 1.
#include <array>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/traffic_words.hpp>

namespace weft::detail {
namespace {

constexpr std::string_view title = "%%MatrixMarket";
constexpr std::string_view example = "'%%MatrixMarket matrix coordinate integer general'";

class MarketReader {
 public:
  MarketReader(std::string_view text, TrafficFlows& flows) : lines_(text), flows_(flows) {}
  Status read();
  int line() const { return lines_.number(); }

 private:
  enum class Field { whole, real, pattern };

  Status read_title();
  Status read_size();
  Status read_entry();
  Status read_values();
  bool next_line();  // That is neither empty nor a comment.
  Result<std::uint64_t> parse_index(std::string_view word, std::string_view noun) const;
  Result<std::uint64_t> parse_value(std::string_view word) const;
  Status add(std::uint64_t row, std::uint64_t column, std::uint64_t value);
  Error cut_off(std::uint64_t missing) const;

  TextLines lines_;
  TrafficFlows& flows_;
  bool is_array_ = false, is_symmetric_ = false;
  Field field_ = Field::whole;
  std::uint64_t size_ = 0, entries_ = 0;
  std::string_view words_;  // Words of the present line that are not yet read.
};

Status MarketReader::read() {
  if (Status s = read_title(); !s) return s;
  if (Status s = read_size(); !s) return s;
  if (is_array_) {
    if (Status s = read_values(); !s) return s;
  } else {
    for (std::uint64_t i = 0; i < entries_; ++i) {
      if (!next_line()) return cut_off(entries_ - i);
      if (Status s = read_entry(); !s) return s;
    }
  }
  if (!trim(words_).empty() || next_line())
    return Error::input(fmt::format(
        "more than the {} values that the header promises; correct the number", entries_));
  return {};
}

Status MarketReader::read_title() {
  if (!lines_.next()) return Error::input(fmt::format("empty; the first line must be {}", example));
  std::string_view rest = lines_.line();
  std::array<std::string_view, 5> word{};
  for (std::string_view& w : word) w = take_word(rest);
  if (!equals_ignoring_case(word[0], title) || !equals_ignoring_case(word[1], "matrix"))
    return Error::input(fmt::format("the first line must be like {}", example));
  const auto one_of = [](std::string_view given, std::initializer_list<std::string_view> known) {
    for (const std::string_view name : known)
      if (equals_ignoring_case(given, name)) return true;
    return false;
  };
  is_array_ = one_of(word[2], {"array"});
  if (!is_array_ && !one_of(word[2], {"coordinate"}))
    return Error::input(fmt::format("'{}' must be 'coordinate' or 'array'", shown(word[2])));
  if (one_of(word[3], {"real", "double"})) {
    field_ = Field::real;
  } else if (one_of(word[3], {"pattern"}) && !is_array_) {
    field_ = Field::pattern;
  } else if (!one_of(word[3], {"integer", "unsigned-integer"})) {
    return Error::input(fmt::format("'{}' values are no bytes; 'integer', 'real'{} are",
                                    shown(word[3]), is_array_ ? "" : " or 'pattern'"));
  }
  is_symmetric_ = one_of(word[4], {"symmetric"});
  if (!is_symmetric_ && !one_of(word[4], {"general"}))
    return Error::input(fmt::format(
        "'{}' has no meaning for bytes; write it as 'general' or 'symmetric'", shown(word[4])));
  return {};
}

Status MarketReader::read_size() {
  if (!next_line()) return Error::input("cut off before the line of sizes; copy it anew");
  std::array<std::uint64_t, 3> size{};
  const std::size_t count = is_array_ ? 2 : 3;
  constexpr std::string_view nouns[] = {"the number of rows", "the number of columns",
                                        "the number of entries"};
  for (std::size_t i = 0; i < count; ++i) {
    const auto parsed = parse_count(take_word(words_), nouns[i]);
    if (!parsed) return parsed.error();
    size[i] = *parsed;
  }
  if (!trim(words_).empty())
    return Error::input(fmt::format("the line of sizes has {} numbers, not more", count));
  if (size[0] != size[1])
    return Error::input(
        fmt::format("{} rows and {} columns; a rank has one of each, so they must be as many",
                    size[0], size[1]));
  if (Status s = flows_.declare(size[0]); !s) return s;
  size_ = size[0];
  // At most 2^26 ranks, so that their square fits.
  entries_ = !is_array_ ? size[2] : is_symmetric_ ? size_ * (size_ + 1) / 2 : size_ * size_;
  return {};
}

bool MarketReader::next_line() {
  while (lines_.next()) {
    words_ = trim(lines_.line());
    if (!words_.empty() && words_.front() != '%') return true;
  }
  words_ = {};
  return false;
}

Result<std::uint64_t> MarketReader::parse_index(std::string_view word,
                                                std::string_view noun) const {
  auto index = parse_count(word, noun);
  if (!index) return index;
  if (*index == 0 || *index > size_)
    return Error::input(fmt::format("{} is {}; it must be from 1 to {}", noun, *index, size_));
  return *index - 1;
}

Result<std::uint64_t> MarketReader::parse_value(std::string_view word) const {
  std::string_view digits = word;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (field_ == Field::whole && digits.find_first_not_of("0123456789") != std::string_view::npos)
    return Error::input(
        fmt::format("'{}' is not a whole number, which the first line promises; write 'real' there",
                    shown(word)));
  return parse_weight(word);
}

Status MarketReader::read_entry() {
  const auto row = parse_index(take_word(words_), "the row");
  if (!row) return row.error();
  const auto column = parse_index(take_word(words_), "the column");
  if (!column) return column.error();
  std::uint64_t value = 1;
  if (field_ != Field::pattern) {
    const auto parsed = parse_value(take_word(words_));
    if (!parsed) return parsed.error();
    value = *parsed;
  }
  if (const std::string_view more = take_word(words_); !more.empty())
    return Error::input(fmt::format("'{}' is one word too many; an entry is: row column{}",
                                    shown(more), field_ == Field::pattern ? "" : " value"));
  if (is_symmetric_ && *row < *column)
    return Error::input(
        fmt::format("row {} and column {} are above the diagonal of a symmetric "
                    "matrix; give the lower half, or write 'general'",
                    *row + 1, *column + 1));
  return add(*row, *column, value);
}

// Column by column; the diagonal and what is below it if it is symmetric.
Status MarketReader::read_values() {
  std::uint64_t read = 0;
  for (std::uint64_t column = 0; column < size_; ++column)
    for (std::uint64_t row = is_symmetric_ ? column : 0; row < size_; ++row, ++read) {
      std::string_view word = take_word(words_);
      if (word.empty()) {
        if (!next_line()) return cut_off(entries_ - read);
        word = take_word(words_);
      }
      const auto value = parse_value(word);
      if (!value) return value.error();
      if (*value == 0) continue;
      if (Status s = add(row, column, *value); !s) return s;
    }
  return {};
}

Status MarketReader::add(std::uint64_t row, std::uint64_t column, std::uint64_t value) {
  if (Status s = flows_.add(row, column, value); !s) return s;
  if (is_symmetric_ && row != column) return flows_.add(column, row, value);
  return {};
}

Error MarketReader::cut_off(std::uint64_t missing) const {
  return Error::input(
      fmt::format("the file ends here, but {} of {} values are missing; copy it anew, or correct "
                  "the number",
                  missing, entries_));
}

constexpr std::array<std::string_view, 2> ends = {".mtx", ".mm"};

Likeness recognise(std::string_view text) {
  const bool titled = equals_ignoring_case(text.substr(0, title.size()), title);
  return titled ? Likeness::titled : Likeness::none;
}

Result<TrafficMatrix> read(std::string_view text, const TrafficReading& how) {
  TrafficFlows flows(how, text);
  MarketReader reader(text, flows);
  if (Status s = reader.read(); !s) return std::move(s).error().at("", reader.line());
  return std::move(flows).finish();
}

}  // namespace

extern const TrafficFormat matrix_market_format{
    .name = "matrix-market",
    .name_ends = ends,
    .example = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 2048\n2 1 2048\n",
    .recognise = &recognise,
    .read = &read,
};

}  // namespace weft::detail
