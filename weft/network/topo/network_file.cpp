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

std::string beside(const std::string& folder, std::string_view spec) {
  std::string_view path = trim(spec).substr(file_kind.size());
  return std::string(file_kind) + (std::filesystem::path(folder) / trim(path)).string();
}

// Puts an error of the spec where the file says it; a graph file's error has its own place.
Error placed(const ConfigTable& table, std::string_view key, Error error) {
  if (error.file().empty()) return table.error_at(key, error.message());
  return error;
}

}  // namespace

Result<Topology> read_topology(ConfigTable table, const std::string& folder) {
  std::string spec;
  std::vector<std::string> down;
  int nodes_per_router = 0;
  table.get("topology", spec);
  table.get("nodes_per_router", nodes_per_router, 1, max_nodes_per_router);
  table.get("down", down);
  if (Status s = table.finish(); !s) return std::move(s).error();
  if (!table.has("topology")) return table.error_at("", "[network] needs a topology");
  if (trim(spec).starts_with(file_kind)) spec = beside(folder, spec);
  auto made =
      make_topology(spec, nodes_per_router > 0 ? std::optional(nodes_per_router) : std::nullopt);
  if (!made) return placed(table, "topology", std::move(made).error());
  for (const std::string& text : down) {
    auto ends = find_ends(*made, text);
    if (!ends) return table.error_at("down", ends.error().message());
    auto cable = find_cable(*made, *ends, text);
    if (!cable) return table.error_at("down", cable.error().message());
    made->graph = Graph::with_down(std::move(made->graph), std::array{*cable});
  }
  return made;
}

Result<Topology> load_topology(std::string_view spec_or_path) {
  const std::string path(spec_or_path);
  if (path.ends_with(".toml")) {
    auto config = Config::read_file(path);
    if (!config) return std::move(config).error();
    if (!config->has_table("network")) return Error::input("no [network] table").at(path, 0);
    return read_topology(config->table("network"),
                         std::filesystem::path(path).parent_path().string());
  }
  const std::size_t colon = path.find(':');
  if (find_kind(trim(spec_or_path.substr(0, colon))) != nullptr) return make_topology(path);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return read_graph_file(path);
  if (colon != std::string::npos) return make_topology(path);
  return Error::input(
      fmt::format("'{}' is neither a file nor a network spec such as torus:4x4x4", path));
}

}  // namespace weft
