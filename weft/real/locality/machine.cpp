// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/machine.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/real/locality/number_list.hpp>

namespace weft::locality {
namespace {

// Far more than any machine has. A limit for input, since the distance matrix grows quadratically.
constexpr std::size_t nodes_max = 1024;

std::size_t position_of(const Machine& machine, int index) {
  const auto& nodes = machine.nodes;
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

Status read_node(const std::vector<std::string_view>& words, Machine& machine) {
  if (words.size() < 4 || machine.nodes.size() >= nodes_max) return broken(words[0]);
  const auto index = parse_int(words[1]), socket = parse_int(words[2]),
             memory = parse_int(words[3]);
  if (!in_range(index, 0, 65'535) || !in_range(socket, 0, 65'535) || !memory || *memory < 0 ||
      (!machine.nodes.empty() && *index <= machine.nodes.back().index))
    return broken(words[0]);
  NumaNode node{static_cast<int>(*index), static_cast<int>(*socket), Bytes{*memory}, {}};
  for (std::size_t i = 4; i < words.size(); ++i) {
    auto cpus = parse_list(words[i]);
    if (!cpus || cpus->empty()) return broken(words[i]);
    node.cores.push_back({*std::move(cpus)});
  }
  machine.nodes.push_back(std::move(node));
  return {};
}

Status read_distances(const std::vector<std::string_view>& words, Machine& machine) {
  if (words.size() != machine.nodes.size() + 1) return broken(words[0]);
  std::vector<int> row;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_int(words[i]);
    if (!in_range(number, 1, 1'000'000)) return broken(words[i]);
    row.push_back(static_cast<int>(*number));
  }
  machine.distances.push_back(std::move(row));
  return {};
}

Status read_card(const std::vector<std::string_view>& words, Machine& machine) {
  if (words.size() != 6 || (words[2] != "network" && words[2] != "openfabrics"))
    return broken(words[0]);
  auto nodes = parse_list(words[3]);
  const auto link = parse_int(words[5]);
  if (!nodes || !link || *link < 0) return broken(words[1]);
  machine.nics.push_back({std::string(words[1]), words[2] == "openfabrics", *std::move(nodes),
                          words[4] == "-" ? "" : std::string(words[4]), Rate::bit_per_s(*link)});
  return {};
}

Status read_record(std::string_view record, Machine& machine) {
  const std::vector<std::string_view> words = split(record, ' ');
  if (words[0] == "node") return read_node(words, machine);
  if (words[0] == "distances") return read_distances(words, machine);
  if (words[0] == "card") return read_card(words, machine);
  if (words[0] != "memory_rate" || words.size() != 2) return broken(record);
  const auto rate = parse_int(words[1]);
  if (!rate || *rate <= 0) return broken(record);
  machine.memory_rate = Rate::bit_per_s(*rate);
  return {};
}

}  // namespace

const NumaNode* find_node(const Machine& machine, int index) {
  const std::size_t position = position_of(machine, index);
  return position < machine.nodes.size() ? &machine.nodes[position] : nullptr;
}

const Nic* find_nic(const Machine& machine, const std::string& name) {
  for (const Nic& card : machine.nics)
    if (card.name == name) return &card;
  return nullptr;
}

int distance(const Machine& machine, int from, int to) {
  const std::size_t a = position_of(machine, from), b = position_of(machine, to);
  if (a >= machine.distances.size() || b >= machine.distances.size()) return far_distance;
  return machine.distances[a][b];
}

int distance(const Machine& machine, int from, std::span<const int> to) {
  int least = -1;
  for (const int node : to) {
    const int one = distance(machine, from, node);
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

std::vector<int> cpus_of(const Machine& machine) {
  std::vector<int> cpus;
  for (const NumaNode& node : machine.nodes) {
    const std::vector<int> more = cpus_of(node);
    cpus.insert(cpus.end(), more.begin(), more.end());
  }
  return cpus;
}

Machine keep_cpus(Machine machine, std::span<const int> allowed) {
  const std::set<int> kept(allowed.begin(), allowed.end());
  for (NumaNode& node : machine.nodes) {
    for (Core& core : node.cores)
      std::erase_if(core.cpus, [&](int cpu) { return !kept.contains(cpu); });
    std::erase_if(node.cores, [](const Core& core) { return core.cpus.empty(); });
  }
  return machine;
}

Machine flat_machine(std::span<const int> cpus) {
  Machine machine;
  machine.nodes.emplace_back();
  for (const int cpu : cpus) machine.nodes[0].cores.push_back({{cpu}});
  machine.distances = {{near_distance}};
  return machine;
}

std::string to_text(const Machine& machine) {
  std::string text = fmt::format("memory_rate {}", machine.memory_rate.in_bit_per_s());
  for (const NumaNode& node : machine.nodes) {
    text += fmt::format(";node {} {} {}", node.index, node.socket, node.memory.count);
    for (const Core& core : node.cores) text += " " + list_to_text(core.cpus);
  }
  for (const std::vector<int>& row : machine.distances)
    text += fmt::format(";distances {}", fmt::join(row, " "));
  for (const Nic& card : machine.nics)
    text += fmt::format(";card {} {} {} {} {}", card.name,
                        card.openfabrics ? "openfabrics" : "network", list_to_text(card.nodes),
                        card.bus.empty() ? "-" : card.bus, card.link.in_bit_per_s());
  return text;
}

Result<Machine> parse_machine(const std::string& text) {
  Machine machine;
  for (const std::string_view record : split(text, ';')) {
    const Status read = read_record(record, machine);
    if (!read) return read.error();
  }
  const std::size_t count = machine.nodes.size();
  const bool square = std::all_of(machine.distances.begin(), machine.distances.end(),
                                  [&](const auto& row) { return row.size() == count; });
  if (count == 0 || machine.distances.size() != count || !square)
    return Error::input("a machine needs nodes, and for each of them its distances");
  return machine;
}

}  // namespace weft::locality
