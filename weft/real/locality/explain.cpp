// SPDX-License-Identifier: Apache-2.0
// Describes the decisions for people.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {
namespace {

using Row = std::vector<std::string>;

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string node_text(int node) {
  return node < 0 ? "-" : std::to_string(node);
}

std::string speed_text(Rate speed) {
  return speed.in_bit_per_s() > 0 ? to_text(speed) : "unknown";
}

std::string memory_text(Bytes memory) {
  const double gib = static_cast<double>(memory.count) / (1 << 30);
  return fmt::format("{:.{}f} GiB", gib, gib < 10 ? 1 : 0);
}

std::string layout_text(const HostLayout& layout) {
  std::size_t cores = 0;
  std::vector<Row> rows = {{"node", "socket", "memory", "processors", "distance to each"}};
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const NumaNode& node = layout.nodes[i];
    cores += node.cores.size();
    rows.push_back({std::to_string(node.index), std::to_string(node.socket),
                    memory_text(node.memory), list_to_text(cpus_of(node)),
                    fmt::format("{}", fmt::join(layout.distances[i], " "))});
  }
  return fmt::format("machine: {}, {}, {}\n", count_text(layout.nodes.size(), "NUMA node"),
                     count_text(cores, "core"),
                     count_text(cpus_of(layout).size(), "hardware thread")) +
         table(rows);
}

std::string rails_text(const HostLayout& layout, std::span<const Interface> interfaces,
                       const std::vector<RailSite>& rails) {
  if (rails.empty()) return "rails: none; processes of this host use shared memory\n";
  std::vector<Row> rows = {{"rail", "address", "subnet", "speed", "slot", "node", "buffers"}};
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const Nic* card = find_nic(layout, rails[i].name);
    const bool known = i < interfaces.size();
    rows.push_back({rails[i].name, known ? to_text(interfaces[i].address) : "-",
                    known ? to_text(interfaces[i].subnet()) : "-", speed_text(rails[i].speed),
                    card == nullptr || card->link.in_bit_per_s() == 0
                        ? "-"
                        : fmt::format("{:.0f} Gb/s", card->link.in_byte_per_s() * 8 / 1e9),
                    list_to_text(rails[i].nodes), node_text(rails[i].buffers)});
  }
  return count_text(rails.size(), "rail") + "\n" + table(rows);
}

// Merges ranks with the same text into one line.
std::vector<std::pair<std::string, std::size_t>> alike(const std::vector<RankPlace>& ranks) {
  std::vector<std::pair<std::string, std::size_t>> groups;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (end < ranks.size() && ranks[end] == ranks[first]) ++end;
    std::vector<int> numbers(end - first);
    std::iota(numbers.begin(), numbers.end(), static_cast<int>(first));
    groups.emplace_back(list_to_text(numbers), first);
    first = end;
  }
  return groups;
}

std::string ranks_text(const HostPlaces& places) {
  std::vector<Row> rows = {{"rank", "node", "processors"}};
  for (const auto& [name, first] : alike(places.ranks)) {
    const RankPlace& place = places.ranks[first];
    rows.push_back(
        {name, node_text(place.node), place.cpus.empty() ? "any" : list_to_text(place.cpus)});
  }
  return fmt::format("{} on this host, binding: {}\n", count_text(places.ranks.size(), "rank"),
                     to_text(places.binding)) +
         table(rows);
}

// If the driver reports no speed, use the slot's, which is no less; otherwise the mean of the
// others.
std::vector<double> assumed_rates(const HostLayout& layout, const std::vector<RailSite>& rails) {
  std::vector<double> rates;
  double sum = 0;
  int known = 0;
  for (const RailSite& rail : rails) {
    const Nic* card = find_nic(layout, rail.name);
    double rate = rail.speed.in_byte_per_s();
    if (rate <= 0 && card != nullptr) rate = card->link.in_byte_per_s();
    rates.push_back(rate);
    sum += rate;
    known += rate > 0 ? 1 : 0;
  }
  for (double& rate : rates)
    if (rate <= 0 && known > 0) rate = sum / known;
  return rates;
}

double gbit(const std::vector<double>& rates_byte_per_s) {
  return std::accumulate(rates_byte_per_s.begin(), rates_byte_per_s.end(), 0.0) * 8 / 1e9;
}

std::string shares_text(const HostLayout& layout, const HostPlaces& places) {
  Row head = {"memory of node"};
  for (const RailSite& rail : places.rails) head.push_back(rail.name);
  head.insert(head.end(), {"together", "ranks at home there"});
  std::vector<Row> rows = {head};
  const std::vector<double> rates = assumed_rates(layout, places.rails);
  for (const NumaNode& node : layout.nodes) {
    Row row = {std::to_string(node.index)};
    const std::vector<double> lowered = lower_rates(rates, node.index, layout, places.rails);
    const std::vector<double> weights = weigh_rails(rates, node.index, layout, places.rails);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const int away = distance(layout, node.index, places.rails[i].nodes);
      row.push_back(
          fmt::format("{:>3} {:>4.0f} %", away < 0 ? "-" : std::to_string(away), weights[i] * 100));
    }
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < places.ranks.size(); ++rank)
      if (places.ranks[rank].node == node.index) ranks.push_back(static_cast<int>(rank));
    row.push_back(gbit(rates) > 0 ? fmt::format("{:.0f} of {:.0f} Gb/s", gbit(lowered), gbit(rates))
                                  : "unknown");
    row.push_back(list_to_text(ranks));
    rows.push_back(row);
  }
  return "distance to each rail, and its part of a long message until rates are measured\n" +
         table(rows);
}

// Only if some rail is far and fast enough to be limited.
std::string link_reason(const HostLayout& layout, const HostPlaces& places) {
  const std::vector<double> rates = assumed_rates(layout, places.rails);
  for (const NumaNode& node : layout.nodes)
    if (lower_rates(rates, node.index, layout, places.rails) != rates)
      return fmt::format(
          "  - rails behind the link to another node have together what it may carry: {:.0f} Gb/s "
          "times distance at home / distance\n",
          layout.memory_rate.in_byte_per_s() * 8 / 1e9);
  return "";
}

}  // namespace

std::string explain(const HostLayout& layout, std::span<const Interface> rails,
                    const HostPlaces& places) {
  std::string text =
      layout_text(layout) + rails_text(layout, rails, places.rails) + ranks_text(places);
  if (!places.rails.empty()) text += shares_text(layout, places);
  text += "why\n";
  for (const std::string& reason : places.reasons) text += "  - " + reason + "\n";
  return text + link_reason(layout, places);
}

}  // namespace weft::locality
