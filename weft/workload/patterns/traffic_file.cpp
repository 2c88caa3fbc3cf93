// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_file.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <weft/base/check.hpp>
#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/workload/patterns/traffic_words.hpp>

namespace weft {

namespace detail {
#define WEFT_FORMAT(name) extern const TrafficFormat name##_format;
#include <weft/workload/patterns/formats.inc>
#undef WEFT_FORMAT
}  // namespace detail

std::span<const TrafficFormat> traffic_formats() {
  static const std::array table = {
#define WEFT_FORMAT(name) detail::name##_format,
#include <weft/workload/patterns/formats.inc>
#undef WEFT_FORMAT
  };
  return table;
}

namespace {

bool has_end(const TrafficFormat& format, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  return std::any_of(format.name_ends.begin(), format.name_ends.end(), [&](std::string_view end) {
    return detail::equals_ignoring_case(std::string_view(name).substr(dot), end);
  });
}

const TrafficFormat& guess_format(std::string_view text, const std::string& name) {
  const TrafficFormat* likeliest = nullptr;
  const TrafficFormat* by_name = nullptr;
  Likeness most = Likeness::none;
  for (const TrafficFormat& format : traffic_formats()) {
    if (by_name == nullptr && has_end(format, name)) by_name = &format;
    const Likeness own = format.recognise == nullptr ? Likeness::none : format.recognise(text);
    if (own > most) {
      most = own;
      likeliest = &format;
    }
  }
  if (by_name != nullptr && most != Likeness::titled) return *by_name;
  WEFT_CHECK(likeliest != nullptr);  // Plain text takes whatever comes.
  return *likeliest;
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

}  // namespace

Result<const TrafficFormat*> parse_traffic_format(std::string_view name) {
  constexpr std::string_view automatic = "automatic";
  if (name == automatic) return static_cast<const TrafficFormat*>(nullptr);
  std::vector<std::string_view> known = {automatic};
  for (const TrafficFormat& format : traffic_formats()) {
    if (format.name == name) return &format;
    known.push_back(format.name);
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
  const TrafficFormat& format = how.format != nullptr ? *how.format : guess_format(text, name);
  if (format.read == nullptr)
    return placed(Error::input("an OTF2 archive, which cannot be read here; give a text"));
  if (Status s = check_text(text); !s) return placed(s.error());
  auto made = format.read(text, how);
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

namespace detail {
namespace {

constexpr std::array<std::string_view, 1> archive_ends = {".otf2"};

}  // namespace

extern const TrafficFormat otf2_format{.name = "otf2", .name_ends = archive_ends, .example = ""};

}  // namespace detail
}  // namespace weft
