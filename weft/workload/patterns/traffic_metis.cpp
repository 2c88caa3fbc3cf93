// SPDX-License-Identifier: Apache-2.0
// METIS graph files: vertex i is rank i - 1, the weight of an edge what both ends send.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/traffic_words.hpp>

namespace weft::detail {
namespace {

class MetisReader {
 public:
  MetisReader(std::string_view text, TrafficFlows& flows) : lines_(text), flows_(flows) {}
  Status read(std::vector<int>& line_of);
  int line() const { return at_; }

 private:
  Status read_header();
  Status read_vertex(std::uint64_t vertex);
  bool next_line();  // That is no comment; an empty one is a vertex without neighbours.

  TextLines lines_;
  TrafficFlows& flows_;
  std::string_view words_;
  int at_ = 0;
  std::uint64_t vertices_ = 0, edges_ = 0, ends_ = 0;
  std::uint64_t skipped_ = 0;  // Size and weights of a vertex, which say nothing here.
  bool has_weights_ = false;
};

bool MetisReader::next_line() {
  while (lines_.next()) {
    at_ = lines_.number();
    words_ = trim(lines_.line());
    if (!words_.starts_with('%')) return true;
  }
  words_ = {};
  return false;
}

Status MetisReader::read(std::vector<int>& line_of) {
  if (Status s = read_header(); !s) return s;
  const int header_line = at_;
  for (std::uint64_t v = 0; v < vertices_; ++v) {
    if (!next_line())
      return Error::input(
          fmt::format("the file ends here, after {} of {} vertices; copy it anew", v, vertices_));
    line_of.push_back(at_);
    if (Status s = read_vertex(v); !s) return s;
  }
  while (next_line())
    if (!words_.empty())
      return Error::input(fmt::format(
          "a line more than the {} vertices of the header; correct the number", vertices_));
  if (ends_ != 2 * edges_) {
    at_ = header_line;
    return Error::input(
        fmt::format("the header promises {} edges, so {} neighbours in all, but there are {}; "
                    "every edge stands in the lines of both its ends",
                    edges_, 2 * edges_, ends_));
  }
  return {};
}

Status MetisReader::read_header() {
  do {
    if (!next_line())
      return Error::input("no header; the first line is: vertices edges [fmt [weights]]");
  } while (words_.empty());
  const auto vertices = parse_count(take_word(words_), "the number of vertices");
  if (!vertices) return vertices.error();
  const auto edges = parse_count(take_word(words_), "the number of edges");
  if (!edges) return edges.error();
  const std::string_view format = take_word(words_);
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
    return Error::input(fmt::format(
        "fmt '{}' must be up to three digits 0 or 1: sizes, vertex weights, edge weights",
        shown(format)));
  const auto digit = [format](std::size_t from_right) {
    return format.size() >= from_right && format[format.size() - from_right] == '1';
  };
  std::uint64_t weights = 1;
  if (const std::string_view word = take_word(words_); !word.empty()) {
    const auto count = parse_count(word, "the number of weights of a vertex");
    if (!count) return count.error();
    weights = *count;
  }
  if (!words_.empty())
    return Error::input("too many numbers; the first line is: vertices edges [fmt [weights]]");
  constexpr std::uint64_t edges_max = std::uint64_t{1} << 60, weights_max = 1000;
  if (*edges > edges_max || weights > weights_max)
    return Error::input("too large a number; the first line is: vertices edges [fmt [weights]]");
  if (Status s = flows_.declare(*vertices); !s) return s;
  vertices_ = *vertices;
  edges_ = *edges;
  has_weights_ = digit(1);
  skipped_ = (digit(2) ? weights : 0) + (digit(3) ? 1 : 0);
  return {};
}

Status MetisReader::read_vertex(std::uint64_t vertex) {
  for (std::uint64_t i = 0; i < skipped_; ++i) {
    const auto weight = parse_count(take_word(words_), "a size or weight of the vertex");
    if (!weight) return weight.error();
  }
  for (;;) {
    const std::string_view word = take_word(words_);
    if (word.empty()) return {};
    const auto peer = parse_count(word, "a neighbour");
    if (!peer) return peer.error();
    if (*peer == 0 || *peer > vertices_)
      return Error::input(
          fmt::format("neighbour {} must be from 1 to {}, the vertices", *peer, vertices_));
    if (*peer == vertex + 1)
      return Error::input(fmt::format("vertex {} is its own neighbour; leave that out", *peer));
    std::uint64_t bytes = 1;
    if (has_weights_) {
      const std::string_view given = take_word(words_);
      if (given.empty())
        return Error::input(fmt::format("neighbour {} has no weight, which fmt promises", *peer));
      const auto weight = parse_weight(given);
      if (!weight) return weight.error();
      bytes = *weight;
    }
    ++ends_;
    if (Status s = flows_.add(vertex, *peer - 1, bytes); !s) return s;
  }
}

// An edge of one side only is found when all are known.
Status check_both_ways(const TrafficMatrix& matrix, const std::vector<int>& line_of) {
  for (const Flow& flow : matrix.flows()) {
    const auto back = matrix.from(flow.to);
    const auto found = std::lower_bound(back.begin(), back.end(), flow.from,
                                        [](const Flow& f, std::uint32_t to) { return f.to < to; });
    const bool is_there = found != back.end() && found->to == flow.from;
    if (is_there && found->bytes == flow.bytes) continue;
    return Error::input(
               fmt::format("vertex {} has neighbour {} with weight {}, but there it is {}; an edge "
                           "stands in both lines with one weight",
                           flow.from + 1, flow.to + 1, flow.bytes, is_there ? found->bytes : 0))
        .at("", line_of[flow.from]);
  }
  return {};
}

bool is_whole(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// A graph begins with two numbers (or three, of which the last is like 001), which no other format
// does; and it has a line for each vertex.
bool looks_like_a_graph(std::string_view text, std::string_view first_line) {
  const std::string_view vertices = take_word(first_line);
  const std::string_view edges = take_word(first_line);
  const std::string_view format = take_word(first_line);
  if (!is_whole(vertices) || !is_whole(edges)) return false;
  if (!format.empty() && (format.size() != 3 || format.front() != '0' || !is_whole(format)))
    return false;
  const auto count = parse_count(vertices, "");
  const auto line_ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return count && *count > 0 && *count <= line_ends;
}

Likeness recognise(std::string_view text) {
  const std::string_view line = first_words(text);
  const bool commented = line.starts_with('%');  // As no other format does.
  return commented || looks_like_a_graph(text, line) ? Likeness::likely : Likeness::none;
}

Result<TrafficMatrix> read(std::string_view text, const TrafficReading& how) {
  TrafficFlows flows(how, text);
  std::vector<int> line_of;
  MetisReader reader(text, flows);
  if (Status s = reader.read(line_of); !s) return std::move(s).error().at("", reader.line());
  auto made = std::move(flows).finish();
  if (!made) return made;
  if (Status s = check_both_ways(*made, line_of); !s) return std::move(s).error();
  return made;
}

constexpr std::array<std::string_view, 2> ends = {".graph", ".metis"};

}  // namespace

extern const TrafficFormat metis_format{
    .name = "metis",
    .name_ends = ends,
    .example = "2 1 001\n2 2048\n1 2048\n",
    .recognise = &recognise,
    .read = &read,
};

}  // namespace weft::detail
