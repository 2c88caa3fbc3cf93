// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_file.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/workload/patterns/traffic_words.hpp>

namespace weft {
namespace {

using detail::TextLines;

struct FormatName {
  std::string_view name;
  TrafficFormat format;
};

constexpr FormatName format_names[] = {
    {"automatic", TrafficFormat::automatic},
    {"text", TrafficFormat::text},
    {"csv", TrafficFormat::csv},
    {"matrix-market", TrafficFormat::matrix_market},
    {"metis", TrafficFormat::metis},
    {"otf2", TrafficFormat::otf2},
};

constexpr FormatName name_ends[] = {
    {".csv", TrafficFormat::csv},          {".mtx", TrafficFormat::matrix_market},
    {".mm", TrafficFormat::matrix_market}, {".graph", TrafficFormat::metis},
    {".metis", TrafficFormat::metis},      {".otf2", TrafficFormat::otf2},
};

bool is_whole(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// A graph begins with two numbers (or three, of which the last is like 001), which no other format
// does; and it has a line for each vertex.
bool looks_like_metis(std::string_view text, std::string_view first_line) {
  const std::string_view vertices = detail::take_word(first_line);
  const std::string_view edges = detail::take_word(first_line);
  const std::string_view format = detail::take_word(first_line);
  if (!is_whole(vertices) || !is_whole(edges)) return false;
  if (!format.empty() && (format.size() != 3 || format.front() != '0' || !is_whole(format)))
    return false;
  const auto count = detail::parse_count(vertices, "");
  const auto line_ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return count && *count > 0 && *count <= line_ends;
}

TrafficFormat guess_format(std::string_view text, const std::string& name) {
  constexpr std::string_view title = "%%MatrixMarket";
  if (detail::equals_ignoring_case(text.substr(0, title.size()), title))
    return TrafficFormat::matrix_market;
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos)
    for (const FormatName& end : name_ends)
      if (detail::equals_ignoring_case(std::string_view(name).substr(dot), end.name))
        return end.format;
  for (TextLines lines(text); lines.next();) {
    const std::string_view line = trim(lines.line());
    if (line.starts_with('%')) return TrafficFormat::metis;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.find_first_of(",;") != std::string_view::npos) return TrafficFormat::csv;
    return looks_like_metis(text, line) ? TrafficFormat::metis : TrafficFormat::text;
  }
  return TrafficFormat::text;
}

Status check_text(std::string_view text) {
  // gzip, zstd, xz, bzip2, zip. (\x37 is the 7 of "7zXZ", which would lengthen the escape.)
  constexpr std::string_view packed[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh",
                                         "PK\x03\x04"};
  for (const std::string_view start : packed)
    if (text.starts_with(start)) return Error::input("this is compressed; unpack it first");
  if (trim(text).empty())
    return Error::input("the file is empty; write lines such as '0 1 2048' (from to bytes)");
  constexpr std::size_t looked_at = 4096;
  if (text.substr(0, looked_at).find('\0') != std::string_view::npos)
    return Error::input("binary data, not text; save it as UTF-8 text, or name its format");
  return {};
}

Result<TrafficMatrix> read_as(TrafficFormat format, std::string_view text,
                              const TrafficReading& how) {
  detail::TrafficFlows flows(how);
  flows.expect(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  std::vector<int> line_of;
  Status read;
  if (format == TrafficFormat::matrix_market) {
    read = detail::read_matrix_market(text, flows);
  } else if (format == TrafficFormat::metis) {
    read = detail::read_metis_graph(text, flows, line_of);
  } else {
    read = detail::read_traffic_table(text, format == TrafficFormat::csv, flows);
  }
  if (!read) return std::move(read).error();
  auto made = std::move(flows).finish();
  if (made && format == TrafficFormat::metis)
    if (Status s = detail::check_both_ways(*made, line_of); !s) return std::move(s).error();
  return made;
}

}  // namespace

Result<TrafficFormat> parse_traffic_format(std::string_view name) {
  std::array<std::string_view, std::size(format_names)> known{};
  for (std::size_t i = 0; i < known.size(); ++i) {
    known[i] = format_names[i].name;
    if (known[i] == name) return format_names[i].format;
  }
  return Error::call(
      fmt::format("unknown traffic format '{}'{}", detail::shown(name), suggest(name, known)));
}

Result<TrafficMatrix> read_traffic_text(std::string_view text, const std::string& name,
                                        const TrafficReading& how) {
  // The readers know lines; the name of the file comes here.
  const auto placed = [&name](const Error& error) {
    return Error(error.broken(), error.message()).at(name, error.line());
  };
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  TrafficFormat format = how.format;
  if (format == TrafficFormat::automatic) format = guess_format(text, name);
  if (format == TrafficFormat::otf2)
    return placed(Error::input("an OTF2 archive, which cannot be read here; give a text"));
  if (Status s = check_text(text); !s) return placed(s.error());
  auto made = read_as(format, text, how);
  if (!made) return placed(made.error());
  return made;
}

Result<TrafficMatrix> read_traffic(const std::string& path, const TrafficReading& how) {
  const bool is_standard_input = path == "-";
  auto text = read_file(is_standard_input ? "/dev/stdin" : path);
  if (!text) return std::move(text).error();
  return read_traffic_text(*text, is_standard_input ? "standard input" : path, how);
}

std::string write_traffic_text(const TrafficMatrix& matrix) {
  std::string out =
      fmt::format("# weft traffic matrix, {} ranks: from to bytes messages\n", matrix.ranks());
  for (const Flow& flow : matrix.flows())
    fmt::format_to(std::back_inserter(out), "{} {} {} {}\n", flow.from, flow.to, flow.bytes,
                   flow.messages);
  return out;
}

}  // namespace weft
