// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/graph.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace weft {
namespace {

constexpr std::uint64_t max_links = std::uint64_t{1} << 28;  // 2 GiB of ports.
constexpr std::size_t max_nodes_at_router = 65535;           // local_index is 16 bits.
constexpr std::size_t max_classes = 255;

std::string name_of(const Graph::Parts& parts, RouterId r) {
  if (r.index < parts.router_names.size()) return "'" + parts.router_names[r.index] + "'";
  return std::to_string(r.index);
}

Status check_sizes(const Graph::Parts& parts) {
  const std::size_t routers = parts.port_count.size();
  if (routers == 0) return Error::input("a network needs at least one router");
  if (routers >= no_router.index) return Error::input(fmt::format("{} routers: too many", routers));
  if (parts.link_classes.size() > max_classes)
    return Error::input(fmt::format("{} link classes, but at most {} are possible",
                                    parts.link_classes.size(), max_classes));
  if (!parts.router_names.empty() && parts.router_names.size() != routers)
    return Error::input(fmt::format("{} names for {} routers", parts.router_names.size(), routers));
  if (!parts.node_names.empty() && parts.node_names.size() != parts.router_of.size())
    return Error::input(
        fmt::format("{} names for {} nodes", parts.node_names.size(), parts.router_of.size()));
  return {};
}

Status check_end(const Graph::Parts& parts, RouterId r, std::uint16_t port) {
  if (r.index >= parts.port_count.size())
    return Error::input(fmt::format("a cable ends at router {}, but there are only {} routers",
                                    r.index, parts.port_count.size()));
  if (port >= parts.port_count[r.index])
    return Error::input(fmt::format("port {} of router {} does not exist; it has {} ports", port,
                                    name_of(parts, r), parts.port_count[r.index]));
  return {};
}

Status check_cable(const Graph::Parts& parts, const Cable& c) {
  if (Status s = check_end(parts, c.a, c.a_port); !s) return s;
  if (Status s = check_end(parts, c.b, c.b_port); !s) return s;
  if (c.a == c.b && c.a_port == c.b_port)
    return Error::input(fmt::format("both ends of a cable are port {} of router {}", c.a_port,
                                    name_of(parts, c.a)));
  if (c.a == c.b)
    return Error::input(fmt::format("a cable joins router {} to itself (ports {} and {})",
                                    name_of(parts, c.a), c.a_port, c.b_port));
  if (c.link_class >= parts.link_classes.size())
    return Error::input(fmt::format("a cable of router {} has link class {}, but there are only {}",
                                    name_of(parts, c.a), c.link_class, parts.link_classes.size()));
  return {};
}

// Positions of `names` in the order of the names, or the name that occurs twice.
Result<std::vector<std::uint32_t>> sorted_by_name(const std::vector<std::string>& names,
                                                  std::string_view what) {
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return names[a] < names[b]; });
  const auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](auto a, auto b) { return names[a] == names[b]; });
  if (twice != order.end())
    return Error::input(fmt::format("two {}s have the name '{}'", what, names[*twice]));
  return order;
}

std::optional<std::uint32_t> look_up(const std::vector<std::string>& names,
                                     const std::vector<std::uint32_t>& order,
                                     std::string_view name) {
  const auto found =
      std::lower_bound(order.begin(), order.end(), name,
                       [&](std::uint32_t i, std::string_view wanted) { return names[i] < wanted; });
  if (found == order.end() || names[*found] != name) return std::nullopt;
  return *found;
}

}  // namespace

Status Graph::plug(const Parts& parts) {
  const std::uint64_t total =
      std::accumulate(parts.port_count.begin(), parts.port_count.end(), std::uint64_t{0});
  if (total > max_links) return Error::input(fmt::format("{} router ports: too many", total));
  first_port_.resize(parts.port_count.size() + 1);
  std::inclusive_scan(parts.port_count.begin(), parts.port_count.end(), first_port_.begin() + 1,
                      std::plus<>{}, std::uint32_t{0});
  ports_.resize(total);
  for (const Cable& c : parts.cables) {
    if (Status s = check_cable(parts, c); !s) return s;
    Port& a = ports_[first_port_[c.a.index] + c.a_port];
    Port& b = ports_[first_port_[c.b.index] + c.b_port];
    if (a.connected() || b.connected())
      return Error::input(fmt::format("port {} of router {} is used twice",
                                      a.connected() ? c.a_port : c.b_port,
                                      name_of(parts, a.connected() ? c.a : c.b)));
    a = {c.b, c.b_port, c.link_class, c.up};
    b = {c.a, c.a_port, c.link_class, c.up};
    if (!c.up) ++down_count_;
  }
  cable_count_ = static_cast<std::uint32_t>(parts.cables.size());
  return {};
}

Status Graph::attach_nodes(std::vector<RouterId> router_of) {
  if (router_of.size() > max_links) return Error::input("too many nodes");
  router_of_ = std::move(router_of);
  first_node_.assign(std::size_t{router_count()} + 1, 0);
  local_index_.resize(router_of_.size());
  for (std::size_t n = 0; n < router_of_.size(); ++n) {
    const RouterId r = router_of_[n];
    if (r.index >= router_count())
      return Error::input(fmt::format("node {} hangs on router {}, but there are only {} routers",
                                      n, r.index, router_count()));
    const std::uint32_t before = first_node_[r.index + 1]++;
    if (before >= max_nodes_at_router)
      return Error::input(
          fmt::format("router {} has more than {} nodes", r.index, max_nodes_at_router));
    local_index_[n] = static_cast<std::uint16_t>(before);
  }
  std::partial_sum(first_node_.begin(), first_node_.end(), first_node_.begin());
  nodes_.resize(router_of_.size());
  for (std::uint32_t n = 0; n < router_of_.size(); ++n)
    nodes_[first_node_[router_of_[n].index] + local_index_[n]] = NodeId(n);
  return {};
}

Status Graph::index_names() {
  auto routers = sorted_by_name(router_names_, "router");
  if (!routers) return std::move(routers).error();
  routers_by_name_ = *std::move(routers);
  auto nodes = sorted_by_name(node_names_, "node");
  if (!nodes) return std::move(nodes).error();
  nodes_by_name_ = *std::move(nodes);
  return {};
}

Result<Graph> Graph::make(Parts parts) {
  if (Status s = check_sizes(parts); !s) return std::move(s).error();
  Graph made;
  if (Status s = made.plug(parts); !s) return std::move(s).error();
  parts.cables = {};
  if (Status s = made.attach_nodes(std::move(parts.router_of)); !s) return std::move(s).error();
  made.link_classes_ = std::move(parts.link_classes);
  made.base_class_.resize(made.link_classes_.size());
  std::iota(made.base_class_.begin(), made.base_class_.end(), std::uint8_t{0});
  made.router_names_ = std::move(parts.router_names);
  made.node_names_ = std::move(parts.node_names);
  if (Status s = made.index_names(); !s) return std::move(s).error();
  return made;
}

Graph Graph::with_down(Graph graph, std::span<const LinkId> broken) {
  for (const LinkId link : broken) {
    WEFT_CHECK(link.index < graph.link_count());
    Port& here = graph.ports_[link.index];
    WEFT_CHECK(here.connected());
    if (!here.up) continue;
    here.up = false;
    graph.ports_[graph.link(here.peer, here.peer_port).index].up = false;
    ++graph.down_count_;
  }
  return graph;
}

Graph Graph::with_all_up(Graph graph) {
  for (Port& port : graph.ports_) port.up = port.up || port.connected();
  graph.down_count_ = 0;
  return graph;
}

Graph Graph::with_class(Graph graph, std::span<const LinkId> links, std::string name) {
  WEFT_CHECK(!links.empty() && graph.link_classes_.size() < max_classes);
  const auto made = static_cast<std::uint8_t>(graph.link_classes_.size());
  graph.base_class_.push_back(graph.base_class_[graph.ports_[links.front().index].link_class]);
  graph.link_classes_.push_back(std::move(name));
  for (const LinkId link : links) {
    Port& here = graph.ports_[link.index];
    WEFT_CHECK(here.connected());
    here.link_class = made;
    graph.ports_[graph.link(here.peer, here.peer_port).index].link_class = made;
  }
  return graph;
}

RouterId Graph::source_of(LinkId link) const {
  WEFT_CHECK(link.index < link_count());
  const auto after = std::upper_bound(first_port_.begin(), first_port_.end(), link.index);
  return RouterId(static_cast<std::uint32_t>(after - first_port_.begin() - 1));
}

std::optional<RouterId> Graph::find_router(std::string_view name) const {
  const auto found = look_up(router_names_, routers_by_name_, name);
  if (!found) return std::nullopt;
  return RouterId(*found);
}

std::optional<NodeId> Graph::find_node(std::string_view name) const {
  const auto found = look_up(node_names_, nodes_by_name_, name);
  if (!found) return std::nullopt;
  return NodeId(*found);
}

}  // namespace weft
