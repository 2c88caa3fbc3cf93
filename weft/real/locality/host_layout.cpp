// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/host_layout.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/real/locality/number_list.hpp>

namespace weft::locality {
namespace {

// Far more than any machine has. A limit for input, since the distance matrix grows quadratically.
constexpr std::size_t nodes_max = 1024;

std::size_t position_of(const HostLayout& layout, int index) {
  const auto& nodes = layout.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NumaNode& node) { return node.index == index; });
  return static_cast<std::size_t>(found - nodes.begin());
}

Error broken(std::string_view record) {
  return Error::input("'" + std::string(record) + "' does not describe part of a machine");
}

bool in_range(const Result<std::int64_t>& number, std::int64_t least, std::int64_t most) {
  return number && *number >= least && *number <= most;
}

Status read_node(const std::vector<std::string_view>& words, HostLayout& layout) {
  if (words.size() < 4 || layout.nodes.size() >= nodes_max) return broken(words[0]);
  const auto index = parse_int(words[1]), socket = parse_int(words[2]),
             memory = parse_int(words[3]);
  if (!in_range(index, 0, 65'535) || !in_range(socket, 0, 65'535) || !memory || *memory < 0 ||
      (!layout.nodes.empty() && *index <= layout.nodes.back().index))
    return broken(words[0]);
  NumaNode node{static_cast<int>(*index), static_cast<int>(*socket), Bytes{*memory}, {}};
  for (std::size_t i = 4; i < words.size(); ++i) {
    auto cpus = parse_list(words[i]);
    if (!cpus || cpus->empty()) return broken(words[i]);
    node.cores.push_back({*std::move(cpus)});
  }
  layout.nodes.push_back(std::move(node));
  return {};
}

Status read_distances(const std::vector<std::string_view>& words, HostLayout& layout) {
  if (words.size() != layout.nodes.size() + 1) return broken(words[0]);
  std::vector<int> row;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_int(words[i]);
    if (!in_range(number, 1, 1'000'000)) return broken(words[i]);
    row.push_back(static_cast<int>(*number));
  }
  layout.distances.push_back(std::move(row));
  return {};
}

Status read_card(const std::vector<std::string_view>& words, HostLayout& layout) {
  if (words.size() != 6 || (words[2] != "network" && words[2] != "openfabrics"))
    return broken(words[0]);
  auto nodes = parse_list(words[3]);
  const auto link = parse_int(words[5]);
  if (!nodes || !link || *link < 0) return broken(words[1]);
  layout.nics.push_back({std::string(words[1]), words[2] == "openfabrics", *std::move(nodes),
                         words[4] == "-" ? "" : std::string(words[4]), Rate::bit_per_s(*link)});
  return {};
}

Status read_record(std::string_view record, HostLayout& layout) {
  const std::vector<std::string_view> words = split(record, ' ');
  if (words[0] == "node") return read_node(words, layout);
  if (words[0] == "distances") return read_distances(words, layout);
  if (words[0] == "card") return read_card(words, layout);
  if (words[0] != "memory_rate" || words.size() != 2) return broken(record);
  const auto rate = parse_int(words[1]);
  if (!rate || *rate <= 0) return broken(record);
  layout.memory_rate = Rate::bit_per_s(*rate);
  return {};
}

}  // namespace

const NumaNode* find_node(const HostLayout& layout, int index) {
  const std::size_t position = position_of(layout, index);
  return position < layout.nodes.size() ? &layout.nodes[position] : nullptr;
}

const Nic* find_nic(const HostLayout& layout, const std::string& name) {
  for (const Nic& card : layout.nics)
    if (card.name == name) return &card;
  return nullptr;
}

int distance(const HostLayout& layout, int from, int to) {
  const std::size_t a = position_of(layout, from), b = position_of(layout, to);
  if (a >= layout.distances.size() || b >= layout.distances.size()) return far_distance;
  return layout.distances[a][b];
}

int distance(const HostLayout& layout, int from, std::span<const int> to) {
  int least = -1;
  for (const int node : to) {
    const int one = distance(layout, from, node);
    if (least < 0 || one < least) least = one;
  }
  return least;
}

std::vector<int> cpus_of(const NumaNode& node) {
  std::vector<int> cpus;
  for (const Core& core : node.cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::vector<int> cpus_of(const HostLayout& layout) {
  std::vector<int> cpus;
  for (const NumaNode& node : layout.nodes) {
    const std::vector<int> more = cpus_of(node);
    cpus.insert(cpus.end(), more.begin(), more.end());
  }
  return cpus;
}

HostLayout keep_cpus(HostLayout layout, std::span<const int> allowed) {
  const std::set<int> kept(allowed.begin(), allowed.end());
  for (NumaNode& node : layout.nodes) {
    for (Core& core : node.cores)
      std::erase_if(core.cpus, [&](int cpu) { return !kept.contains(cpu); });
    std::erase_if(node.cores, [](const Core& core) { return core.cpus.empty(); });
  }
  return layout;
}

HostLayout flat_host_layout(std::span<const int> cpus) {
  HostLayout layout;
  layout.nodes.emplace_back();
  for (const int cpu : cpus) layout.nodes[0].cores.push_back({{cpu}});
  layout.distances = {{near_distance}};
  return layout;
}

std::string to_text(const HostLayout& layout) {
  std::string text = fmt::format("memory_rate {}", layout.memory_rate.in_bit_per_s());
  for (const NumaNode& node : layout.nodes) {
    text += fmt::format(";node {} {} {}", node.index, node.socket, node.memory.count);
    for (const Core& core : node.cores) text += " " + list_to_text(core.cpus);
  }
  for (const std::vector<int>& row : layout.distances)
    text += fmt::format(";distances {}", fmt::join(row, " "));
  for (const Nic& card : layout.nics)
    text += fmt::format(";card {} {} {} {} {}", card.name,
                        card.openfabrics ? "openfabrics" : "network", list_to_text(card.nodes),
                        card.bus.empty() ? "-" : card.bus, card.link.in_bit_per_s());
  return text;
}

Result<HostLayout> parse_host_layout(const std::string& text) {
  HostLayout layout;
  for (const std::string_view record : split(text, ';')) {
    const Status read = read_record(record, layout);
    if (!read) return read.error();
  }
  const std::size_t count = layout.nodes.size();
  const bool square = std::all_of(layout.distances.begin(), layout.distances.end(),
                                  [&](const auto& row) { return row.size() == count; });
  if (count == 0 || layout.distances.size() != count || !square)
    return Error::input("a machine needs nodes, and for each of them its distances");
  return layout;
}

}  // namespace weft::locality
