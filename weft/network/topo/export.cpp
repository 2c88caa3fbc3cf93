// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/export.hpp"

#include <array>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <weft/base/text.hpp>
#include <weft/network/topo/graph_file.hpp>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// Calls visit(router, port number, port) for each cable once, from its lower end.
template <typename Visit>
void each_cable(const Graph& g, const Visit& visit) {
  for (std::uint32_t r = 0; r < g.router_count(); ++r) {
    const auto ports = g.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p)
      if (ports[p].connected() && ports[p].peer.index > r) visit(RouterId(r), p, ports[p]);
  }
}

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// Identifiers are numbers with a letter, so that a router and a node may share a name.
std::string write_dot(const Topology& t) {
  const Graph& g = t.graph;
  std::string out = fmt::format("graph {} {{\n  node [shape=box];\n", dot_quoted(t.name));
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    out += fmt::format("  r{} [label={}];\n", r, dot_quoted(router_name(t, RouterId(r))));
  out += "  node [shape=ellipse];\n";
  for (std::uint32_t n = 0; n < g.node_count(); ++n)
    out += fmt::format("  n{} [label={}];\n", n, dot_quoted(node_name(t, NodeId(n))));
  each_cable(g, [&](RouterId r, std::size_t, const Port& p) {
    out += fmt::format("  r{} -- r{} [class={}{}];\n", r.index, p.peer.index,
                       dot_quoted(g.link_classes()[p.link_class]),
                       p.up ? "" : ", style=dashed, color=red");
  });
  for (std::uint32_t n = 0; n < g.node_count(); ++n)
    out += fmt::format("  n{} -- r{};\n", n, g.router_of(NodeId(n)).index);
  return out + "}\n";
}

std::string write_graphml(const Topology& t) {
  const Graph& g = t.graph;
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "  <key id=\"class\" for=\"edge\" attr.name=\"class\" attr.type=\"string\"/>\n"
      "  <key id=\"up\" for=\"edge\" attr.name=\"up\" attr.type=\"boolean\"/>\n";
  out += fmt::format("  <graph id=\"{}\" edgedefault=\"undirected\">\n", xml_escaped(t.name));
  const auto add_node = [&](char letter, std::uint32_t index, const std::string& name) {
    out += fmt::format(
        "    <node id=\"{}{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data></node>\n",
        letter, index, xml_escaped(name), letter == 'r' ? "router" : "node");
  };
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    add_node('r', r, router_name(t, RouterId(r)));
  for (std::uint32_t n = 0; n < g.node_count(); ++n) add_node('n', n, node_name(t, NodeId(n)));
  each_cable(g, [&](RouterId r, std::size_t, const Port& p) {
    out += fmt::format(
        "    <edge source=\"r{}\" target=\"r{}\"><data key=\"class\">{}</data><data "
        "key=\"up\">{}</data></edge>\n",
        r.index, p.peer.index, xml_escaped(g.link_classes()[p.link_class]), p.up);
  });
  for (std::uint32_t n = 0; n < g.node_count(); ++n)
    out +=
        fmt::format("    <edge source=\"n{}\" target=\"r{}\"/>\n", n, g.router_of(NodeId(n)).index);
  return out + "  </graph>\n</graphml>\n";
}

std::string write_json(const Topology& t) {
  const Graph& g = t.graph;
  Json routers = Json::array();
  for (std::uint32_t r = 0; r < g.router_count(); ++r)
    routers.push_back({{"name", router_name(t, RouterId(r))},
                       {"coordinates", coordinates(t, RouterId(r))},
                       {"ports", g.ports(RouterId(r)).size()}});
  Json nodes = Json::array();
  for (std::uint32_t n = 0; n < g.node_count(); ++n)
    nodes.push_back({{"name", node_name(t, NodeId(n))}, {"router", g.router_of(NodeId(n)).index}});
  Json cables = Json::array();
  each_cable(g, [&](RouterId r, std::size_t port, const Port& p) {
    cables.push_back({{"a", r.index},
                      {"a_port", port},
                      {"b", p.peer.index},
                      {"b_port", p.peer_port},
                      {"class", g.link_classes()[p.link_class]},
                      {"up", p.up}});
  });
  const Json whole = {{"format", "weft-network 1"},
                      {"name", t.name},
                      {"routers", routers},
                      {"nodes", nodes},
                      {"cables", cables}};
  // A file's path may be no UTF-8; a replacement character is better than no export.
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

constexpr std::array formats = {
    ExportFormat{"dot", "Graphviz", &write_dot},
    ExportFormat{"graphml", "GraphML: networkx, Gephi, yEd", &write_graphml},
    ExportFormat{"json", "JSON with ports and coordinates", &write_json},
    ExportFormat{"graph", "weft's own graph file", &write_graph_text},
};

}  // namespace

std::span<const ExportFormat> export_formats() {
  return formats;
}

Result<std::string> export_topology(const Topology& topology, std::string_view format) {
  std::vector<std::string_view> names;
  for (const ExportFormat& f : formats) {
    if (f.name == format) return f.write(topology);
    names.push_back(f.name);
  }
  return Error::call(fmt::format("unknown export format '{}'{}", format, suggest(format, names)));
}

}  // namespace weft
