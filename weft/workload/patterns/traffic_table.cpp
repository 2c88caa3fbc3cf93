// SPDX-License-Identifier: Apache-2.0
// Plain text and CSV: a flow per line, the columns in the usual order or as a header names them.
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/traffic_words.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t fields_max = 64;
constexpr char blanks = ' ';  // As a separator: any number of blanks and tabs.

enum Column : std::size_t { from, to, bytes, messages, column_count };

struct ColumnName {
  std::string_view name;
  Column column;
};

constexpr ColumnName column_names[] = {
    {"from", from},      {"src", from},     {"source", from},       {"sender", from},
    {"to", to},          {"dst", to},       {"dest", to},           {"destination", to},
    {"receiver", to},    {"target", to},    {"bytes", bytes},       {"size", bytes},
    {"weight", bytes},   {"volume", bytes}, {"messages", messages}, {"msgs", messages},
    {"count", messages},
};

constexpr std::string_view usage = "write: from to bytes [messages]";

class TableReader {
 public:
  TableReader(char separator, TrafficFlows& flows) : separator_(separator), flows_(flows) {}
  Status read_line(std::string_view line);

 private:
  Status read_comment(std::string_view line);
  Status read_header(std::string_view line);
  Status read_record();
  Status take_fields(std::string_view line);
  Status take_separated(std::string_view line);
  Status push(std::string_view field);
  std::string_view field(Column column) const {
    return place_[column] < field_count_ ? fields_[place_[column]] : std::string_view();
  }

  char separator_;
  TrafficFlows& flows_;
  std::array<std::string_view, fields_max> fields_{};
  std::size_t field_count_ = 0;
  std::array<std::size_t, column_count> place_{0, 1, 2, 3};
  std::string_view header_;
  std::size_t header_count_ = 0;
  bool has_records_ = false;
};

bool starts_with_letter(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  return !text.empty() &&
         ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

Status TableReader::read_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  if (line[first] == '#') return read_comment(trim(line));
  if (starts_with_letter(line.substr(first))) return read_header(trim(line));
  if (Status s = take_fields(line); !s) return s;
  return read_record();
}

// "# weft traffic matrix, 64 ranks: ..." says what silent ranks at the end cannot.
Status TableReader::read_comment(std::string_view line) {
  constexpr std::string_view title = "# weft traffic matrix,";
  if (!line.starts_with(title)) return {};
  if (flows_.is_declared())
    return Error::input("a second header; a file holds the traffic of one run");
  std::string_view rest = line.substr(title.size());
  const auto ranks = parse_count(take_word(rest), "the number of ranks");
  if (!ranks) return ranks.error();
  return flows_.declare(*ranks);
}

Status TableReader::read_header(std::string_view line) {
  if (line == header_) return Error::input("the header stands here again; leave it out");
  if (has_records_ || !header_.empty())
    return Error::input(fmt::format("'{}' is no flow; {}", shown(line), usage));
  header_ = line;
  if (Status s = take_fields(line); !s) return s;
  header_count_ = field_count_;
  place_.fill(fields_max);
  std::array<std::string_view, std::size(column_names)> known{};
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = column_names[i].name;
  for (std::size_t f = 0; f < field_count_; ++f) {
    std::optional<Column> column;
    for (const ColumnName& name : column_names)
      if (equals_ignoring_case(fields_[f], name.name)) column = name.column;
    if (!column) {
      // Other columns may be there, but a slip in one of ours must not pass for one.
      const std::string hint = suggest(fields_[f].substr(0, 40), known);
      if (hint.starts_with("; did you mean"))
        return Error::input(fmt::format("unknown column '{}'{}", shown(fields_[f]), hint));
      continue;
    }
    if (place_[*column] != fields_max)
      return Error::input(fmt::format("columns '{}' and '{}' mean the same; keep one",
                                      shown(fields_[place_[*column]]), shown(fields_[f])));
    place_[*column] = f;
  }
  constexpr std::string_view needed[] = {"from", "to", "bytes"};
  for (const Column column : {from, to, bytes})
    if (place_[column] == fields_max)
      return Error::input(fmt::format("the header has no column '{}'; {}, or name these columns",
                                      needed[column], usage));
  return {};
}

Status TableReader::push(std::string_view field) {
  if (field_count_ == fields_max)
    return Error::input(fmt::format("more than {} columns; {}", fields_max, usage));
  fields_[field_count_++] = field;
  return {};
}

Status TableReader::take_fields(std::string_view line) {
  field_count_ = 0;
  if (separator_ != blanks) return take_separated(line);
  for (;;) {
    const std::string_view word = take_word(line);
    if (word.empty() || word.front() == '#') return {};
    if (Status s = push(word); !s) return s;
  }
}

Status TableReader::take_separated(std::string_view line) {
  for (;;) {
    const std::size_t first = line.find_first_not_of(separator_ == '\t' ? " " : " \t");
    if (first != std::string_view::npos && line[first] == '"') {
      const std::size_t end = line.find('"', first + 1);
      if (end == std::string_view::npos)
        return Error::input("a quotation mark is not closed; close it in the same line");
      if (Status s = push(trim(line.substr(first + 1, end - first - 1))); !s) return s;
      line.remove_prefix(end + 1);
      const std::size_t next = line.find(separator_);
      if (!trim(line.substr(0, next)).empty())
        return Error::input(fmt::format("'{}' after a closed quotation mark; separate the fields",
                                        shown(trim(line.substr(0, next)))));
      if (next == std::string_view::npos) return {};
      line.remove_prefix(next + 1);
      continue;
    }
    const std::size_t end = line.find(separator_);
    if (Status s = push(trim(line.substr(0, end))); !s) return s;
    if (end == std::string_view::npos) return {};
    line.remove_prefix(end + 1);
  }
}

Status TableReader::read_record() {
  has_records_ = true;
  // Many programs end each line with a separator.
  while (field_count_ > 3 && fields_[field_count_ - 1].empty()) --field_count_;
  if (header_.empty() && (field_count_ < 3 || field_count_ > 4))
    return Error::input(fmt::format("{} column{} ('{}'...); {}", field_count_,
                                    field_count_ == 1 ? "" : "s", shown(fields_[0]), usage));
  // A comma inside a number ("1,024") must not move the columns.
  if (!header_.empty() && field_count_ > header_count_)
    return Error::input(fmt::format("{} columns, but the header has {}; numbers have no commas",
                                    field_count_, header_count_));
  const auto sender = parse_count(field(from), "the rank that sends");
  if (!sender) return sender.error();
  const auto receiver = parse_count(field(to), "the rank that receives");
  if (!receiver) return receiver.error();
  const auto sent = parse_weight(field(bytes));
  if (!sent) return sent.error();
  const std::string_view counted = field(messages);
  if (counted.empty()) return flows_.add(*sender, *receiver, *sent);
  auto count = parse_count(counted, "a number of messages");
  if (!count) {
    if (starts_with_letter(counted))
      return Error::input(
          fmt::format("'{}' is not a number of messages; a unit stands beside its "
                      "number without a blank: 64KiB",
                      shown(counted)));
    return std::move(count).error();
  }
  if (*count == 0 && *sent > 0)
    return Error::input(
        fmt::format("{} bytes in 0 messages; give at least one, or leave the column out", *sent));
  return flows_.add(*sender, *receiver, *sent, *count);
}

// As the first line that counts has it.
char find_separator(std::string_view text) {
  for (TextLines lines(text); lines.next();) {
    const std::string_view line = trim(lines.line());
    if (line.empty() || line.front() == '#') continue;
    for (const char separator : {',', ';', '\t'})
      if (line.find(separator) != std::string_view::npos) return separator;
    break;
  }
  return ',';
}

Result<TrafficMatrix> read(char separator, std::string_view text, const TrafficReading& how) {
  TrafficFlows flows(how, text);
  TableReader reader(separator, flows);
  for (TextLines lines(text); lines.next();)
    if (Status s = reader.read_line(lines.line()); !s)
      return std::move(s).error().at("", lines.number());
  return std::move(flows).finish();
}
Result<TrafficMatrix> read_text(std::string_view text, const TrafficReading& how) {
  return read(blanks, text, how);
}
Result<TrafficMatrix> read_csv(std::string_view text, const TrafficReading& how) {
  return read(find_separator(text), text, how);
}

Likeness recognise_text(std::string_view) {
  return Likeness::possible;
}
Likeness recognise_csv(std::string_view text) {
  const std::string_view line = first_words(text);
  const bool separated = line.find_first_of(",;") != std::string_view::npos;
  return separated && !line.starts_with('%') ? Likeness::likely : Likeness::none;
}

constexpr std::array<std::string_view, 1> csv_ends = {".csv"};

}  // namespace

extern const TrafficFormat text_format{
    .name = "text",
    .name_ends = {},
    .example = "0 1 2048\n1 0 2048\n",
    .recognise = &recognise_text,
    .read = &read_text,
};
extern const TrafficFormat csv_format{
    .name = "csv",
    .name_ends = csv_ends,
    .example = "from,to,bytes\n0,1,2048\n1,0,2048\n",
    .recognise = &recognise_csv,
    .read = &read_csv,
};

}  // namespace weft::detail
