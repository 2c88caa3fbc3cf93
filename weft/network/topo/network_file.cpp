// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/network_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <weft/base/file.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/kinds.hpp>
#include <weft/network/topo/planes.hpp>
#include <weft/network/topo/search.hpp>

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
  for (const std::string_view name : {trim(text.substr(0, dash)), trim(text.substr(dash + 1))}) {
    auto router = find_router(t, name);
    if (router) continue;
    if (!find_node(t, name)) return std::move(router).error();
    return Error::input(fmt::format(
        "'{}' is a node, and only cables between routers can be down or have rates of their own; "
        "to do without a node, leave it out of the map (weft sim --map)",
        name));
  }
  return Error::input(fmt::format("there is no cable '{}'", text));
}

// At most eight names: "(1,0), (0,1)".
std::string list_neighbours(const Topology& t, RouterId r) {
  constexpr int shown_max = 8;
  std::vector<RouterId> neighbours;
  for (const Port& port : t.graph.ports(r))
    if (port.connected()) neighbours.push_back(port.peer);
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  std::string text;
  int shown = 0;
  for (const RouterId neighbour : neighbours) {
    if (++shown > shown_max) break;
    text += (text.empty() ? "" : ", ") + router_name(t, neighbour);
  }
  if (neighbours.size() > shown_max)
    text += fmt::format(" and {} more", neighbours.size() - shown_max);
  return text;
}

Error no_cable(const Topology& t, RouterId from, std::string_view text) {
  const std::string neighbours = list_neighbours(t, from);
  if (neighbours.empty())
    return Error::input(
        fmt::format("there is no cable '{}'; {} has none", text, router_name(t, from)));
  return Error::input(fmt::format("there is no cable '{}'; those of {} lead to {}", text,
                                  router_name(t, from), neighbours));
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
  return no_cable(t, ends.a, text);
}

constexpr std::string_view random_word = "random";

struct RandomBreaks {
  std::int64_t count = 0, seed = 1;
};

Result<RandomBreaks> parse_breaks(std::string_view text) {
  const auto wrong = [word = text] {
    return Error::input(fmt::format("'{}' must look like random:3 or random:3,seed=2", word));
  };
  text.remove_prefix(random_word.size());
  if (!text.starts_with(':')) return wrong();
  const std::vector<std::string_view> parts = split(text.substr(1), ',');
  const auto count = parse_int(trim(parts[0]));
  if (!count || *count < 0 || parts.size() > 2) return wrong();
  RandomBreaks made{.count = *count};
  if (parts.size() == 1) return made;
  const std::string_view seed = trim(parts[1]);
  if (!seed.starts_with("seed=")) return wrong();
  const auto value = parse_int(trim(seed.substr(5)));
  if (!value || *value < 0) return wrong();
  made.seed = *value;
  return made;
}

// Cables in a random order; of these the first without which all nodes are still connected. One
// that cannot be spared cannot be later either.
Result<Graph> break_random(Graph graph, int cards, std::string_view text) {
  const auto are_connected = [cards](const Graph& g) { return !find_cut_off(g, cards); };
  const auto asked = parse_breaks(text);
  if (!asked) return Error(asked.error());
  std::vector<LinkId> cables;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const Port& port = graph.port(LinkId(l));
    if (port.usable() && l < graph.link(port.peer, port.peer_port).index)
      cables.push_back(LinkId(l));
  }
  Rng rng = Rng(static_cast<std::uint64_t>(asked->seed)).stream("broken cables");
  for (std::size_t i = cables.size(); i > 1; --i) std::swap(cables[i - 1], cables[rng.below(i)]);
  const auto count = static_cast<std::size_t>(asked->count);
  if (count <= cables.size()) {  // Mostly none is needed.
    Graph without = Graph::with_down(graph, std::span(cables).first(count));
    if (are_connected(without)) return without;
  }
  std::size_t broken = 0;
  for (std::size_t i = 0; i < cables.size() && broken < count; ++i) {
    Graph without = Graph::with_down(graph, std::array{cables[i]});
    if (!are_connected(without)) continue;
    graph = std::move(without);
    ++broken;
  }
  if (broken == count) return graph;
  return Error::input(
      fmt::format("'{}': only {} cables can break while all nodes stay connected", text, broken));
}

// Breaks what one word of `down` says.
Result<Graph> break_cables(Topology& t, std::string_view text) {
  const std::string_view word = trim(text);
  // A router may be called so; no cable is without a '-'.
  if (word.starts_with(random_word) && (word.find('-') == std::string_view::npos ||
                                        word.substr(random_word.size()).starts_with(':')))
    return break_random(std::move(t.graph), t.cards, word);
  auto ends = find_ends(t, text);
  if (!ends) return std::move(ends).error();
  auto cable = find_cable(t, *ends, text);
  if (!cable) return std::move(cable).error();
  return Graph::with_down(std::move(t.graph), std::array{*cable});
}

std::string beside(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

// Puts an error of the spec where the file says it; a graph file's error has its own place.
Error placed(const ConfigTable& table, std::string_view key, Error error) {
  if (error.file().empty()) return table.error_at(key, error.message());
  return error;
}

// The network with the planes and rails that the table has beside the topology.
Result<Topology> add_cards(const ConfigTable& table, const NetworkWords& words, Topology made) {
  if (!words.planes && !words.rails) return made;
  const char* const key = words.rails ? "rails" : "planes";
  if (made.shape->planes() != nullptr)
    return table.error_at(key, fmt::format("'{}' says planes or rails already; leave {} out here",
                                           words.topology, key));
  auto wrapped = with_cards(std::move(made), {words.planes.value_or(1), words.rails.value_or(1)});
  if (!wrapped) return table.error_at(key, wrapped.error().message());
  return wrapped;
}

}  // namespace

std::optional<std::string> graph_file_of(std::string_view spec) {
  if (!trim(spec).starts_with(file_kind)) return std::nullopt;
  return std::string(trim(trim(spec).substr(file_kind.size())));
}

Result<NetworkWords> read_network_words(ConfigTable table) {
  NetworkWords words;
  table.get("topology", words.topology);
  table.get("nodes_per_router", words.nodes_per_router, 1, max_nodes_per_router);
  table.get("planes", words.planes, 1, cards_max);
  table.get("rails", words.rails, 1, cards_max);
  table.get("down", words.down);
  if (Status s = table.finish(); !s) return std::move(s).error();
  if (!table.has("topology")) return table.error_at("", "[network] needs a topology");
  return words;
}

Result<Topology> read_topology(const ConfigTable& table, const std::string& folder, int cards) {
  const auto words = read_network_words(table);
  if (!words) return Error(words.error());
  // A path is taken as it is: it may hold what a spec could not.
  const auto file = graph_file_of(words->topology);
  auto made = file && !words->nodes_per_router
                  ? read_graph_file(beside(folder, *file))
                  : make_topology(words->topology, words->nodes_per_router);
  if (!made) return placed(table, "topology", std::move(made).error());
  made = add_cards(table, *words, *std::move(made));
  if (!made) return made;
  const bool fits = made->graph.node_count() % static_cast<std::uint32_t>(cards) == 0;
  if (made->shape->planes() == nullptr && fits) made->cards = cards;
  for (const std::string& text : words->down) {
    auto broken = break_cables(*made, text);
    if (!broken) return table.error_at("down", broken.error().message());
    made->graph = *std::move(broken);
  }
  return made;
}

Result<Topology> name_cables(Topology topology, const std::string& name) {
  constexpr std::size_t classes_max = 255;
  const auto ends = find_ends(topology, name);
  if (!ends) return Error(ends.error());
  std::vector<LinkId> links;
  const auto ports = topology.graph.ports(ends->a);
  for (std::size_t p = 0; p < ports.size(); ++p)
    if (ports[p].peer == ends->b)
      links.push_back(topology.graph.link(ends->a, static_cast<int>(p)));
  if (links.empty()) return no_cable(topology, ends->a, name);
  if (topology.graph.link_classes().size() >= classes_max)
    return Error::input(fmt::format("'{}' would be class {} of cables, but at most {} are possible",
                                    name, classes_max + 1, classes_max));
  topology.graph = Graph::with_class(std::move(topology.graph), links, name);
  return topology;
}

Result<std::string> find_spec(std::string_view spec_or_path) {
  const std::string path(spec_or_path);
  const std::size_t colon = path.find(':');
  if (find_kind(trim(spec_or_path.substr(0, colon))) != nullptr) return path;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return std::string(file_kind) + path;
  if (colon != std::string::npos) return path;
  if (path.find_first_of("./") != std::string::npos)
    if (auto text = read_file(path); !text) return std::move(text).error();
  std::vector<std::string_view> kinds;
  for (const TopologyKind& kind : topology_kinds()) kinds.push_back(kind.name);
  const std::string remedy = suggest(path, kinds);
  return Error::input(fmt::format("'{}' is neither a file nor a network spec such as torus:4x4x4{}",
                                  path, remedy.starts_with("; did you mean") ? remedy : ""));
}

Result<Topology> load_topology(std::string_view spec_or_path) {
  const auto spec = find_spec(spec_or_path);
  if (!spec) return Error(spec.error());
  return *spec == spec_or_path ? make_topology(*spec) : read_graph_file(std::string(spec_or_path));
}

}  // namespace weft
