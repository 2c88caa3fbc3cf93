// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/rank_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft {

namespace {

constexpr std::uint32_t nowhere = 0xffffffffu;

std::optional<std::uint32_t> parse_index(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What a message repeats of the file: short, and nothing a terminal would act on.
std::string quoted(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 40))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return "'" + shown + (text.size() > 40 ? "...'" : "'");
}

class Reader {
 public:
  Reader(const RankFileReading& how, const Topology& topology)
      : how_(how), topology_(topology), nodes_(topology.graph.node_count() / how.rails) {
    made_.node.assign(how.ranks, nowhere);
    made_.line.assign(how.ranks, 0);
    used_.assign(nodes_, 0);
  }

  Result<RankNodes> lines(std::string_view text);
  Result<RankNodes> json(std::string_view text);

 private:
  Result<std::uint32_t> find_place(std::string_view text) const;
  Status add_line(std::string_view line, int number);
  Status add(std::uint32_t rank, std::string_view place, int number);
  Status add_json(const nlohmann::json& nodes);
  Result<RankNodes> finish();
  Error wrong(const std::string& what, int line) const {
    return Error::input(what).at(how_.path, line);
  }

  const RankFileReading& how_;
  const Topology& topology_;
  const std::uint32_t nodes_;
  RankNodes made_;
  std::vector<std::uint32_t> used_;  // By node.
  std::size_t words_ = 0;            // Words per record: 1 or 2; 0: none seen yet.
  int first_line_ = 0;
  std::uint32_t next_ = 0;  // The rank of the next line, where lines have a node only.
};

Result<std::uint32_t> Reader::find_place(std::string_view text) const {
  if (const auto number = parse_index(text)) {
    if (*number < nodes_) return *number;
    if (nodes_ == 0) return Error::input(topology_.name + " has no nodes");
    return Error::input(fmt::format("node {} is outside of 0 to {}", text, nodes_ - 1));
  }
  std::string name(text);
  if (name.find(',') != std::string::npos && name.front() != '(') name = "(" + name + ")";
  if (auto node = find_node(topology_, name)) return node->index / how_.rails;
  auto router = find_router(topology_, name);
  if (!router) {
    // In a network with names of its own, most likely the name of a node was meant.
    const bool named = !topology_.graph.node_names().empty();
    Error error = named ? find_node(topology_, name).error() : std::move(router).error();
    return std::move(error).during(quoted(text));
  }
  const auto nodes = topology_.graph.nodes_at(*router);
  if (nodes.empty())
    return Error::input(fmt::format("router {} has no nodes; name one that has", quoted(text)));
  return nodes.front().index / how_.rails;
}

Status Reader::add(std::uint32_t rank, std::string_view place, int number) {
  if (rank >= how_.ranks) {
    if (how_.ranks == 0) return wrong("there are no ranks to place", number);
    return wrong(fmt::format("rank {} is outside of 0 to {}", rank, how_.ranks - 1), number);
  }
  if (made_.node[rank] != nowhere) {
    return wrong(fmt::format("rank {} stands on line {} already", rank, made_.line[rank]), number);
  }
  auto node = find_place(place);
  if (!node) return std::move(node).error().at(how_.path, number);
  if (++used_[*node] > how_.room && how_.room > 0) {
    return wrong(
        fmt::format("node {} has room for {} only; see --ranks-per-node", place, how_.room),
        number);
  }
  made_.node[rank] = *node;
  made_.line[rank] = number;
  return {};
}

// Up to three words: a record of three is wrong whatever the third is.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks);
       at != std::string_view::npos && words.size() < 3; at = line.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

Status Reader::add_line(std::string_view line, int number) {
  const auto words = words_of(line.substr(0, std::min(line.find('#'), line.size())));
  if (words.empty()) return {};
  if (words.size() > 2)
    return wrong("a record is a rank and a node, such as '7 12' or '7 3,0,1'", number);
  if (words_ == 0) {
    words_ = words.size();
    first_line_ = number;
  }
  if (words.size() != words_) {
    return wrong(fmt::format("{}, but line {} has {}; a file has 'RANK NODE' on every line, or a "
                             "node on every line",
                             words.size() == 1 ? "one word" : "two words", first_line_,
                             words_ == 1 ? "one" : "two"),
                 number);
  }
  if (words_ == 1) {
    if (next_ == how_.ranks)
      return wrong(fmt::format("one node more than there are ranks ({})", how_.ranks), number);
    return add(next_++, words[0], number);
  }
  const auto rank = parse_index(words[0]);
  if (!rank) return wrong(quoted(words[0]) + " is no rank; ranks are 0, 1, 2, ...", number);
  return add(*rank, words[1], number);
}

Result<RankNodes> Reader::finish() {
  const auto missing = std::find(made_.node.begin(), made_.node.end(), nowhere);
  if (missing == made_.node.end()) return std::move(made_);
  return wrong(fmt::format("rank {} of {} is missing", missing - made_.node.begin(), how_.ranks),
               0);
}

Result<RankNodes> Reader::lines(std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto added = add_line(text.substr(0, end), number); !added) return std::move(added).error();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return finish();
}

Status Reader::add_json(const nlohmann::json& nodes) {
  if (!nodes.is_array()) return wrong("no array 'nodes' with the node of each rank", 0);
  if (nodes.size() != how_.ranks) {
    return wrong(fmt::format("'nodes' has {} entries for {} ranks", nodes.size(), how_.ranks), 0);
  }
  for (std::uint32_t rank = 0; rank < how_.ranks; ++rank) {
    const nlohmann::json& node = nodes[rank];
    const bool number = node.is_number_unsigned();
    if (!number && !node.is_string())
      return wrong(fmt::format("nodes[{}] is neither a node's number nor a name", rank), 0);
    const std::string place = number ? node.dump() : node.get<std::string>();
    if (auto added = add(rank, place, 0); !added)
      return std::move(added).error().during(fmt::format("nodes[{}]", rank));
  }
  return {};
}

Result<RankNodes> Reader::json(std::string_view text) {
  nlohmann::json whole;
  try {
    whole = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto before = text.substr(0, std::min(error.byte, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    return wrong("is no whole JSON text; it breaks off or goes wrong here", static_cast<int>(line));
  } catch (const nlohmann::json::exception&) {  // Without a place.
    return wrong("has a number that is too large for any node", 0);
  }
  const bool object = whole.is_object();
  const nlohmann::json none;
  const nlohmann::json& nodes = !object ? whole : whole.contains("nodes") ? whole["nodes"] : none;
  if (auto added = add_json(nodes); !added) return std::move(added).error();
  return finish();
}

}  // namespace

Result<RankNodes> parse_rank_file(std::string_view text, const RankFileReading& how,
                                  const Topology& topology) {
  WEFT_CHECK(how.rails > 0);
  constexpr std::string_view mark = "\xef\xbb\xbf";  // Some editors begin UTF-8 with it.
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  Reader reader(how, topology);
  const std::string_view start = trim(text);
  const bool json = !start.empty() && (start.front() == '{' || start.front() == '[');
  return json ? reader.json(text) : reader.lines(text);
}

Result<RankNodes> read_rank_file(const RankFileReading& how, const Topology& topology) {
  auto text = read_file(how.path);
  if (!text) return std::move(text).error();
  return parse_rank_file(*text, how, topology);
}

}  // namespace weft
