// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/network_file.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/kinds.hpp>

namespace weft {
namespace {

constexpr int max_nodes_per_router = 65535;
constexpr std::string_view file_kind = "graph:";

struct Ends {
  RouterId a, b;
};

// Names may hold a '-' themselves: any place where both sides are routers will do.
Result<Ends> find_ends(const Topology& t, std::string_view text) {
  for (std::size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
    const auto a = find_router(t, trim(text.substr(0, at)));
    const auto b = find_router(t, trim(text.substr(at + 1)));
    if (a && b) return Ends{*a, *b};
  }
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos)
    return Error::input(fmt::format("'{}' must be two routers with a '-' between", text));
  auto left = find_router(t, trim(text.substr(0, dash)));
  if (!left) return std::move(left).error();
  auto right = find_router(t, trim(text.substr(dash + 1)));
  return std::move(right).error();
}

Result<LinkId> find_cable(const Topology& t, const Ends& ends, std::string_view text) {
  const auto ports = t.graph.ports(ends.a);
  bool any = false;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (ports[p].peer != ends.b) continue;
    any = true;
    if (ports[p].up) return t.graph.link(ends.a, static_cast<int>(p));
  }
  if (any) return Error::input(fmt::format("every cable of '{}' is down already", text));
  return Error::input(fmt::format("there is no cable '{}'", text));
}

// The path of a "graph:FILE".
std::string beside(const std::string& folder, std::string_view spec) {
  const std::string_view path = trim(trim(spec).substr(file_kind.size()));
  return (std::filesystem::path(folder) / path).string();
}

// Puts an error of the spec where the file says it; a graph file's error has its own place.
Error placed(const ConfigTable& table, std::string_view key, Error error) {
  if (error.file().empty()) return table.error_at(key, error.message());
  return error;
}

}  // namespace

Result<NetworkWords> read_network_words(ConfigTable table) {
  NetworkWords words;
  table.get("topology", words.topology);
  table.get("nodes_per_router", words.nodes_per_router, 1, max_nodes_per_router);
  table.get("down", words.down);
  if (Status s = table.finish(); !s) return std::move(s).error();
  if (!table.has("topology")) return table.error_at("", "[network] needs a topology");
  return words;
}

Result<Topology> read_topology(const ConfigTable& table, const std::string& folder) {
  const auto words = read_network_words(table);
  if (!words) return Error(words.error());
  // A path is taken as it is: it may hold what a spec could not.
  const bool is_file = trim(words->topology).starts_with(file_kind) && !words->nodes_per_router;
  auto made = is_file ? read_graph_file(beside(folder, words->topology))
                      : make_topology(words->topology, words->nodes_per_router);
  if (!made) return placed(table, "topology", std::move(made).error());
  for (const std::string& text : words->down) {
    auto ends = find_ends(*made, text);
    if (!ends) return table.error_at("down", ends.error().message());
    auto cable = find_cable(*made, *ends, text);
    if (!cable) return table.error_at("down", cable.error().message());
    made->graph = Graph::with_down(std::move(made->graph), std::array{*cable});
  }
  return made;
}

Result<std::string> find_spec(std::string_view spec_or_path) {
  const std::string path(spec_or_path);
  const std::size_t colon = path.find(':');
  if (find_kind(trim(spec_or_path.substr(0, colon))) != nullptr) return path;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return std::string(file_kind) + path;
  if (colon != std::string::npos) return path;
  return Error::input(
      fmt::format("'{}' is neither a file nor a network spec such as torus:4x4x4", path));
}

Result<Topology> load_topology(std::string_view spec_or_path) {
  const auto spec = find_spec(spec_or_path);
  if (!spec) return Error(spec.error());
  return *spec == spec_or_path ? make_topology(*spec) : read_graph_file(std::string(spec_or_path));
}

}  // namespace weft
