// SPDX-License-Identifier: Apache-2.0
#include "map_convert.hpp"

#include <algorithm>
#include <set>

#include "output.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/rank_file.hpp>
#include <weft/real/launch/hosts.hpp>
#include <weft/study/map/formats.hpp>

namespace weft::app {
namespace {

// How the file names the node of each rank, in any of the forms of a map. Only a first look: errors
// are found when the file is read.
std::vector<std::string> node_words(const std::string& text) {
  std::vector<std::string> words;
  const std::string_view start = trim(text);
  if (!start.empty() && (start.front() == '{' || start.front() == '[')) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    const nlohmann::json nodes =
        json.is_object() ? json.value("nodes", nlohmann::json::array()) : json;
    if (!nodes.is_array()) return words;
    for (const nlohmann::json& node : nodes)
      words.push_back(node.is_string() ? node.get<std::string>() : node.dump());
    return words;
  }
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view record = trim(line.substr(0, line.find('#')));
    if (record.empty()) continue;
    const std::size_t blank = record.find_last_of(" \t");
    words.emplace_back(blank == std::string_view::npos ? record : record.substr(blank + 1));
  }
  return words;
}

Result<Topology> network_of_names(const std::vector<std::string>& names) {
  std::string text = "weft-graph 1\nrouter hosts\n";
  for (const std::string& name : names) text += "node " + name + " hosts\n";
  return read_graph_text(text, "hosts");
}

// A network that has nothing but the nodes that the map speaks of.
Result<Topology> network_of_map(const MapOptions& o, const std::vector<std::string>& words) {
  const map::MapFormat& format = *map::find_map_format(o.format);
  if (format.needs_network)
    return Error::call(
        fmt::format("--format {}: it writes what only the network knows; give --net", o.format));
  std::int64_t most = -1;
  std::vector<std::string> names;
  for (const std::string& word : words) {
    const auto number = parse_int(word);
    if (number)
      most = std::max(most, *number);
    else if (std::find(names.begin(), names.end(), word) == names.end())
      names.push_back(word);
  }
  constexpr std::int64_t nodes_max = 1 << 26;
  if (most >= nodes_max)
    return Error::input(fmt::format("node {} is outside of 0 to {}", most, nodes_max - 1))
        .at(o.convert, 0);
  if (names.empty()) {
    for (std::int64_t node = 0; node <= most; ++node) names.push_back(fmt::format("n{}", node));
    return network_of_names(names);
  }
  const bool coordinates = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find_first_of(",(") != std::string::npos;
  });
  if (coordinates || most >= 0 || !format.names_hosts)
    return Error::call(
        fmt::format("--convert: {} names nodes ('{}'), whose numbers are known only "
                    "with --net or --hosts",
                    o.convert, names.front()));
  return network_of_names(names);
}

Result<Topology> network_for(const MapOptions& o, const std::vector<std::string>& words) {
  if (!o.machine.words.net.empty()) {
    const auto reader = MachineReader::open(o.machine.words);
    if (!reader) return Error(reader.error());
    return reader->make_network();
  }
  const auto hosts = o.hosts.empty()
                         ? Result<std::vector<launch::Host>>(std::vector<launch::Host>())
                         : launch::read_hosts(o.hosts);
  if (!hosts) return Error(hosts.error());
  if (hosts->empty() || map::find_map_format(o.format)->needs_network)
    return network_of_map(o, words);
  const bool numbers = std::all_of(words.begin(), words.end(),
                                   [](const std::string& word) { return parse_int(word); });
  std::vector<std::string> names;
  for (const launch::Host& host : *hosts)
    names.push_back(numbers ? fmt::format("n{}", names.size()) : host.name);
  return network_of_names(names);
}

Result<std::vector<std::string>> host_names(const MapOptions& o) {
  std::vector<std::string> names;
  if (o.hosts.empty()) return names;
  const auto hosts = launch::read_hosts(o.hosts);
  if (!hosts) return Error(hosts.error());
  for (const launch::Host& host : *hosts) names.push_back(host.name);
  return names;
}

}  // namespace

Status convert_map(const MapOptions& o) {
  const auto text = read_file(o.convert);
  if (!text) return Error(text.error());
  const std::vector<std::string> words = node_words(*text);
  if (words.empty()) return Error::input(o.convert + " holds no map");
  const auto topology = network_for(o, words);
  if (!topology) return Error(topology.error());
  auto hosts = host_names(o);
  if (!hosts) return std::move(hosts).error();
  const auto ranks = static_cast<std::uint32_t>(words.size());
  const auto read = parse_rank_file(*text, {.path = o.convert, .ranks = ranks}, *topology);
  if (!read) return Error(read.error());
  const auto written = map::write_map(*topology, read->node, {o.format, *std::move(hosts)});
  if (!written) return Error(written.error());
  return o.output.empty() ? print(*written) : write_file(o.output, *written);
}

}  // namespace weft::app
