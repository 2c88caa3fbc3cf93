// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <sstream>

#include <weft/base/file.hpp>
#include <weft/host/placement.hpp>

namespace weft {

namespace {

constexpr std::uint32_t nowhere = 0xffffffffu;

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A number, a node's name, or a router's name or coordinates (its first node).
Result<std::uint32_t> parse_node(std::string text, std::uint32_t rails, const Topology& topology) {
  if (const auto number = parse_number(text)) return *number;
  if (text.find(',') != std::string::npos && text.front() != '(') text = "(" + text + ")";
  if (auto node = find_node(topology, text)) return node->index / rails;
  auto router = find_router(topology, text);
  if (!router) return std::move(router).error();
  const auto nodes = topology.graph.nodes_at(*router);
  if (nodes.empty()) return Error::input("router '" + text + "' has no nodes");
  return nodes.front().index / rails;
}

std::string too_many(std::uint32_t ranks, Placement::Limits limits) {
  return std::to_string(ranks) + " ranks do not fit on " + std::to_string(limits.nodes) +
         " nodes with " + std::to_string(limits.ranks_per_node) +
         " each; use a larger network or --ranks-per-node";
}

}  // namespace

Placement::Placement(std::vector<std::uint32_t> node, std::uint32_t nodes)
    : node_(std::move(node)), start_(nodes + 1), order_(node_.size()) {
  for (const std::uint32_t n : node_) ++start_[n + 1];
  for (std::uint32_t n = 0; n < nodes; ++n) start_[n + 1] += start_[n];
  std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
  for (std::uint32_t r = 0; r < node_.size(); ++r) order_[next[node_[r]]++] = r;
}

Result<Placement> Placement::block(std::uint32_t ranks, Limits limits) {
  if (ranks > std::uint64_t{limits.nodes} * limits.ranks_per_node)
    return Error::call(too_many(ranks, limits));
  std::vector<std::uint32_t> node(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) node[r] = r / limits.ranks_per_node;
  Placement placement(std::move(node), limits.nodes);
  placement.block_ = true;
  return placement;
}

Result<Placement> Placement::read_file(const std::string& path, std::uint32_t ranks, Limits limits,
                                       const Topology& topology) {
  auto text = weft::read_file(path);
  if (!text) return std::move(text).error();
  const std::uint32_t rails = topology.graph.node_count() / limits.nodes;
  std::vector<std::uint32_t> node(ranks, nowhere), used(limits.nodes);
  std::vector<int> line_of(ranks);
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto wrong = [&](const std::string& what) { return Error::input(what).at(path, number); };
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::string rank_text, node_text, rest;
    if (!(words >> rank_text)) continue;
    if (!(words >> node_text) || words >> rest)
      return wrong("a record is a rank and a node, such as '7 12' or '7 3,0,1'");
    const auto rank = parse_number(rank_text);
    if (!rank) return wrong("'" + rank_text + "' is no rank");
    if (*rank >= ranks)
      return wrong("rank " + rank_text + " is outside of 0 to " + std::to_string(ranks - 1));
    if (node[*rank] != nowhere) {
      return wrong("rank " + rank_text + " stands on line " + std::to_string(line_of[*rank]) +
                   " already");
    }
    auto place = parse_node(node_text, rails, topology);
    if (!place) return wrong("'" + node_text + "': " + place.error().message());
    if (*place >= limits.nodes) {
      return wrong("node " + node_text + " is outside of 0 to " + std::to_string(limits.nodes - 1));
    }
    if (++used[*place] > limits.ranks_per_node) {
      return wrong("node " + node_text + " has room for " + std::to_string(limits.ranks_per_node) +
                   " only; see --ranks-per-node");
    }
    node[*rank] = *place;
    line_of[*rank] = number;
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (node[r] == nowhere)
      return Error::input("rank " + std::to_string(r) + " of " + std::to_string(ranks) +
                          " is missing")
          .at(path, 0);
  }
  return Placement(std::move(node), limits.nodes);
}

}  // namespace weft
