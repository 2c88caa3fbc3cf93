// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/graph_file.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>

namespace weft {
namespace {

constexpr std::string_view header = "weft-graph 1";
constexpr int any_port = -1;
constexpr int max_ports = 65535;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t first = line.find_first_not_of(" \t\r", at);
    if (first == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", first), line.size());
    words.push_back(line.substr(first, at - first));
  }
  return words;
}

// Names go into exports as they are, so they must be text. Overlong forms pass; they do no harm.
bool is_text(std::string_view text) {
  int more = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (more > 0) {
      if ((byte & 0xc0u) != 0x80u) return false;
      --more;
    } else if (byte >= 0xc2u && byte <= 0xf4u) {
      more = byte >= 0xf0u ? 3 : byte >= 0xe0u ? 2 : 1;
    } else if (byte >= 0x7fu || (byte < 0x20u && c != '\t' && c != '\r')) {
      return false;
    }
  }
  return more == 0;
}

struct End {
  std::uint32_t router = 0;
  int port = any_port;
};

struct LinkLine {
  End a, b;
  std::uint8_t link_class = 0;
  bool up = true;
  int line = 0;
};

// Reads line by line; ports that the file leaves open are given when all lines are known, so that
// numbered ports keep their numbers wherever they stand.
class Reader {
 public:
  Status read_line(std::string_view line, int number);
  Result<Topology> finish(const std::string& name);

 private:
  using Words = std::span<const std::string_view>;
  Status add_router(Words words);
  Status check_router_name(std::string_view name) const;
  Status add_node(Words words);
  Status add_link(Words words, int line);
  Result<std::uint32_t> find_router(std::string_view name) const;
  Result<End> find_end(std::string_view text) const;
  Result<std::uint8_t> find_class(std::string_view name);
  Status take_ports();

  Graph::Parts parts_;
  std::map<std::string, std::uint32_t, std::less<>> routers_;
  std::map<std::string, std::uint32_t, std::less<>> nodes_;
  std::vector<LinkLine> links_;
};

Status Reader::read_line(std::string_view line, int number) {
  // A '#' inside a word belongs to the name ("rack#3").
  const auto words = words_of(line);
  const auto comment =
      std::find_if(words.begin(), words.end(), [](auto w) { return w.starts_with('#'); });
  const Words used(words.begin(), comment);
  if (used.empty()) return {};
  if (used[0] == "router") return add_router(used.subspan(1));
  if (used[0] == "node") return add_node(used.subspan(1));
  if (used[0] == "link") return add_link(used.subspan(1), number);
  constexpr std::string_view known[] = {"router", "node", "link"};
  return Error::input(fmt::format("unknown record '{}'{}", used[0], suggest(used[0], known)));
}

Status Reader::add_router(Words words) {
  if (words.empty() || words.size() > 2) return Error::input("write: router NAME [ports=N]");
  int ports = 0;
  if (words.size() == 2) {
    const auto count =
        words[1].starts_with("ports=") ? parse_int(words[1].substr(6)) : parse_int("");
    if (!count || *count < 0 || *count > max_ports)
      return Error::input(fmt::format("'{}' must be ports=N, N from 0 to {}", words[1], max_ports));
    ports = static_cast<int>(*count);
  }
  if (Status s = check_router_name(words[0]); !s) return s;
  const auto index = static_cast<std::uint32_t>(routers_.size());
  if (index >= detail::max_routers) return Error::input("too many routers");
  if (!routers_.emplace(words[0], index).second)
    return Error::input(fmt::format("router '{}' is declared twice", words[0]));
  parts_.router_names.emplace_back(words[0]);
  parts_.port_count.push_back(static_cast<std::uint16_t>(ports));
  return {};
}

// "a.1" must not mean both a router and a port of router "a".
Status Reader::check_router_name(std::string_view name) const {
  const auto clash = [](std::string_view longer, std::string_view shorter) {
    return Error::input(
        fmt::format("router '{}' could be taken for a port of router '{}'", longer, shorter));
  };
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && parse_int(name.substr(dot + 1)) &&
      routers_.contains(name.substr(0, dot)))
    return clash(name, name.substr(0, dot));
  const std::string prefix = std::string(name) + ".";
  for (auto at = routers_.lower_bound(prefix);
       at != routers_.end() && at->first.starts_with(prefix); ++at)
    if (parse_int(std::string_view(at->first).substr(prefix.size()))) return clash(at->first, name);
  return {};
}

Status Reader::add_node(Words words) {
  if (words.size() != 2) return Error::input("write: node NAME ROUTER");
  const auto router = find_router(words[1]);
  if (!router) return router.error();
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  if (index >= detail::max_nodes) return Error::input("too many nodes");
  if (!nodes_.emplace(words[0], index).second)
    return Error::input(fmt::format("node '{}' is declared twice", words[0]));
  parts_.node_names.emplace_back(words[0]);
  parts_.router_of.push_back(RouterId(*router));
  return {};
}

Status Reader::add_link(Words words, int line) {
  if (words.size() < 2)
    return Error::input("write: link ROUTER[.PORT] ROUTER[.PORT] [class=NAME] [down]");
  LinkLine link;
  link.line = line;
  const auto a = find_end(words[0]);
  if (!a) return a.error();
  const auto b = find_end(words[1]);
  if (!b) return b.error();
  link.a = *a;
  link.b = *b;
  if (link.a.router == link.b.router)
    return Error::input(
        fmt::format("a link joins router '{}' to itself", parts_.router_names[link.a.router]));
  std::string_view class_name = "link";
  for (const std::string_view word : words.subspan(2)) {
    if (word == "down") {
      link.up = false;
    } else if (word.starts_with("class=") && word.size() > 6) {
      class_name = word.substr(6);
    } else {
      constexpr std::string_view known[] = {"class=NAME", "down"};
      return Error::input(fmt::format("unknown word '{}'{}", word, suggest(word, known)));
    }
  }
  const auto found = find_class(class_name);
  if (!found) return found.error();
  link.link_class = *found;
  if (links_.size() >= detail::max_cables) return Error::input("too many links");
  links_.push_back(link);
  return {};
}

Result<std::uint32_t> Reader::find_router(std::string_view name) const {
  const auto found = routers_.find(name);
  if (found != routers_.end()) return found->second;
  const std::vector<std::string_view> known(parts_.router_names.begin(), parts_.router_names.end());
  std::string hint = suggest(name, known);
  constexpr std::size_t listed_max = 10;
  if (known.size() > listed_max && hint.starts_with("; known")) hint.clear();
  return Error::input(fmt::format("router '{}' is not declared{}", name, hint));
}

// A router's own name may hold dots: the longest declared name wins.
Result<End> Reader::find_end(std::string_view text) const {
  if (const auto whole = routers_.find(text); whole != routers_.end())
    return End{whole->second, any_port};
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) {
    auto missing = find_router(text);
    return std::move(missing).error();
  }
  const auto port = parse_int(text.substr(dot + 1));
  auto router = find_router(port ? text.substr(0, dot) : text);
  if (!router) return std::move(router).error();
  if (*port < 0 || *port >= max_ports)
    return Error::input(fmt::format("port {} must be from 0 to {}", *port, max_ports - 1));
  return End{*router, static_cast<int>(*port)};
}

Result<std::uint8_t> Reader::find_class(std::string_view name) {
  auto& classes = parts_.link_classes;
  const auto found = std::find(classes.begin(), classes.end(), name);
  if (found == classes.end()) {
    if (classes.size() >= 255) return Error::input("more than 255 link classes");
    classes.emplace_back(name);
    return static_cast<std::uint8_t>(classes.size() - 1);
  }
  return static_cast<std::uint8_t>(found - classes.begin());
}

// Open ports take the lowest free numbers, in the order of the lines.
Status Reader::take_ports() {
  std::vector<std::vector<bool>> taken(parts_.port_count.size());
  const auto take = [&](const End& end, int port) {
    auto& ports = taken[end.router];
    const auto at = static_cast<std::size_t>(port);
    if (ports.size() <= at) ports.resize(at + 1);
    if (ports[at]) return false;
    ports[at] = true;
    return true;
  };
  for (const LinkLine& link : links_)
    for (const End& end : {link.a, link.b})
      if (end.port != any_port && !take(end, end.port))
        return Error::input(fmt::format("port {} of router '{}' is used twice", end.port,
                                        parts_.router_names[end.router]))
            .at("", link.line);
  std::vector<int> next(parts_.port_count.size());
  for (LinkLine& link : links_)
    for (End* end : {&link.a, &link.b}) {
      if (end->port != any_port) continue;
      int& port = next[end->router];
      while (!take(*end, port)) ++port;
      if (port >= max_ports)
        return Error::input(fmt::format("router '{}' has more than {} ports",
                                        parts_.router_names[end->router], max_ports));
      end->port = port;
    }
  for (std::size_t r = 0; r < taken.size(); ++r)
    parts_.port_count[r] =
        std::max(parts_.port_count[r], static_cast<std::uint16_t>(taken[r].size()));
  return {};
}

Result<Topology> Reader::finish(const std::string& name) {
  if (Status s = take_ports(); !s) return std::move(s).error();
  for (const LinkLine& link : links_)
    parts_.cables.push_back({RouterId(link.a.router), static_cast<std::uint16_t>(link.a.port),
                             RouterId(link.b.router), static_cast<std::uint16_t>(link.b.port),
                             link.link_class, link.up});
  auto graph = Graph::make(std::move(parts_));
  if (!graph) return std::move(graph).error();
  return Topology{name, plain_shape(), *std::move(graph)};
}

}  // namespace

Result<Topology> read_graph_text(std::string_view text, const std::string& name) {
  Reader reader;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (!is_text(line)) return Error::input("not UTF-8 text").at(name, number);
    if (number == 1) {
      if (trim(line) != header)
        return Error::input(fmt::format("the first line must be '{}'", header)).at(name, 1);
      continue;
    }
    if (Status s = reader.read_line(line, number); !s) return std::move(s).error().at(name, number);
  }
  auto made = reader.finish(name);
  if (!made) {
    const int line = made.error().line();
    return std::move(made).error().at(name, line);
  }
  return made;
}

Result<Topology> read_graph_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return std::move(text).error();
  return read_graph_text(*text, path);
}

std::string write_graph_text(const Topology& t) {
  std::string out = fmt::format("{}\n# {}\n", header, t.name);
  const Graph& g = t.graph;
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    out += fmt::format("router {} ports={}\n", router_name(t, RouterId(r)),
                       g.ports(RouterId(r)).size());
  for (std::uint32_t n = 0; n < g.node_count(); ++n)
    out += fmt::format("node {} {}\n", node_name(t, NodeId(n)),
                       router_name(t, g.router_of(NodeId(n))));
  for (std::uint32_t r = 0; r < g.router_count(); ++r) {
    const auto ports = g.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      // Each cable once, from its lower end; a router is never joined to itself.
      if (!ports[p].connected() || ports[p].peer.index < r) continue;
      out += fmt::format("link {}.{} {}.{} class={}{}\n", router_name(t, RouterId(r)), p,
                         router_name(t, ports[p].peer), ports[p].peer_port,
                         g.link_classes()[ports[p].link_class], ports[p].up ? "" : " down");
    }
  }
  return out;
}

namespace detail {
namespace {

constexpr std::array file_parameters = {SpecParameter{"", "path of a graph file"}};

Result<Topology> make_from_file(Spec& spec) {
  const std::string path = spec.text("");
  if (Status s = spec.finish(); !s) return std::move(s).error();
  return read_graph_file(path);
}

}  // namespace

extern const TopologyKind graph_file_kind{
    .name = "graph",
    .usage = "graph:FILE",
    .example = "",
    .help = "any graph, from a file",
    .parameters = file_parameters,
    .make = &make_from_file,
};

}  // namespace detail
}  // namespace weft
