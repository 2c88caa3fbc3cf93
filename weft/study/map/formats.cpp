// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/formats.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>

namespace weft::map {

namespace {

using Nodes = std::span<const std::uint32_t>;
using Hosts = std::vector<std::string>;

struct Sheet {
  const Topology& topology;
  std::uint32_t slots_per_node;
  Nodes nodes;
  const Hosts& hosts;  // By node.
};

std::string heading(const Sheet& s) {
  return fmt::format("{} ranks on {}", s.nodes.size(), s.topology.name);
}

Result<std::string> write_weft(const Sheet& s) {
  std::string text = fmt::format("# {}\n# rank node\n", heading(s));
  for (std::size_t r = 0; r < s.nodes.size(); ++r)
    fmt::format_to(std::back_inserter(text), "{} {}\n", r, s.nodes[r]);
  return text;
}

Result<std::string> write_nodes(const Sheet& s) {
  std::string text;
  for (const std::uint32_t node : s.nodes) fmt::format_to(std::back_inserter(text), "{}\n", node);
  return text;
}

Result<std::string> write_rankfile(const Sheet& s) {
  std::string text;
  // By host and not by node: two nodes of the network may be one host with two names of cards.
  std::unordered_map<std::string_view, std::uint32_t> taken;
  for (std::size_t r = 0; r < s.nodes.size(); ++r) {
    const std::string& host = s.hosts[s.nodes[r]];
    fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", r, host, taken[host]++);
  }
  return text;
}

// Slurm's host file and Hydra's machine file: both give rank i the host of line i.
Result<std::string> write_hosts(const Sheet& s) {
  std::string text;
  for (const std::uint32_t node : s.nodes) text += s.hosts[node] + "\n";
  return text;
}

std::vector<std::vector<std::uint32_t>> ranks_by_node(const Sheet& s) {
  std::vector<std::vector<std::uint32_t>> ranks(s.topology.graph.node_count());
  for (std::uint32_t r = 0; r < s.nodes.size(); ++r) ranks[s.nodes[r]].push_back(r);
  return ranks;
}

// The launcher fills node after node with the same number of processes and gives them the listed
// ranks in turn. A node that is half empty, but for the last, would shift all that follow; a node
// that is empty is simply not in the job.
Status check_gaps(const Sheet& s, const std::vector<std::vector<std::uint32_t>>& ranks) {
  std::size_t first = 0, most = 0;
  for (const auto& here : ranks) most = std::max(most, here.size());
  bool ended = false;
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    if (ranks[n].empty()) continue;
    if (ended) {
      return Error::call(fmt::format(
          "a Cray rank order cannot leave gaps: node {} has {} of {} ranks and others follow; "
          "write 'slurm', or map with as many ranks on each node",
          s.hosts[first], ranks[first].size(), most));
    }
    first = n;
    ended = ranks[n].size() < most;
  }
  return {};
}

Result<std::string> write_cray(const Sheet& s) {
  constexpr std::size_t per_line = 16;
  const auto ranks = ranks_by_node(s);
  if (auto fits = check_gaps(s, ranks); !fits) return std::move(fits).error();
  const auto used = static_cast<std::size_t>(
      std::count_if(ranks.begin(), ranks.end(), [](const auto& here) { return !here.empty(); }));
  std::string text = fmt::format("# {}\n", heading(s));
  if (used < ranks.size())
    text +=
        fmt::format("# {} of {} nodes have ranks: the job has those only\n", used, ranks.size());
  std::size_t column = 0;
  for (const auto& here : ranks) {
    for (const std::uint32_t rank : here) {
      fmt::format_to(std::back_inserter(text), "{}{}", column == 0 ? "" : ",", rank);
      if (++column < per_line) continue;
      text += '\n';
      column = 0;
    }
  }
  if (column > 0) text += '\n';
  return text;
}

Result<std::string> write_fujitsu(const Sheet& s) {
  constexpr int dimensions_max = 3;  // Dimensions of a job's shape.
  const Topology& t = s.topology;
  const Lattice* const lattice = t.shape->lattice();
  if (lattice == nullptr) {
    return Error::call(fmt::format(
        "a Fujitsu coordinate list needs a mesh or torus, and {} is none; write 'rankfile' or "
        "'slurm'",
        t.name));
  }
  if (lattice->dimensions() > dimensions_max) {
    return Error::call(
        fmt::format("a Fujitsu coordinate list has at most {} dimensions, and {} has {}; describe "
                    "the job's shape instead of the machine",
                    dimensions_max, t.name, lattice->dimensions()));
  }
  std::string text;
  for (const std::uint32_t node : s.nodes) {
    const RouterId router = t.graph.router_of(NodeId(node));
    if (t.graph.nodes_at(router).size() > 1) {
      return Error::call(fmt::format(
          "a Fujitsu coordinate list has one node at each place, and {} has {} at {}; put several "
          "ranks on a node instead",
          t.name, t.graph.nodes_at(router).size(), router_name(t, router)));
    }
    fmt::format_to(std::back_inserter(text), "({})\n", fmt::join(coordinates(t, router), ","));
  }
  return text;
}

Result<std::string> write_json(const Sheet& s) {
  nlohmann::ordered_json whole;
  whole["format"] = "weft-map";
  whole["version"] = 1;
  whole["network"] = s.topology.name;
  whole["ranks"] = s.nodes.size();
  whole["slots_per_node"] = s.slots_per_node;
  whole["nodes"] = std::vector<std::uint32_t>(s.nodes.begin(), s.nodes.end());
  auto& hosts = whole["hosts"] = nlohmann::ordered_json::array();
  for (const std::uint32_t node : s.nodes) hosts.push_back(s.hosts[node]);
  // Names of another encoding are no reason to fail.
  return whole.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

struct Writer {
  MapFormat format;
  Result<std::string> (*write)(const Sheet&);
};

constexpr std::array<Writer, 8> writers{{
    {{"weft", "RANK NODE on each line, for weft sim --map", false, false, true}, write_weft},
    {{"nodes", "the number of a node on each line, line i for rank i", false, false, true},
     write_nodes},
    {{"rankfile", "Open MPI and PRRTE: mpirun --rankfile FILE", true}, write_rankfile},
    {{"slurm", "SLURM_HOSTFILE=FILE srun --distribution=arbitrary", true, false, true},
     write_hosts},
    {{"mpich", "MPICH and Intel MPI: mpiexec -f FILE", true, false, true}, write_hosts},
    {{"cray", "MPICH_RANK_ORDER, with MPICH_RANK_REORDER_METHOD=3"}, write_cray},
    {{"fujitsu", "coordinates: pjsub --mpi rank-map-hostfile=FILE", false, true}, write_fujitsu},
    {{"json", "the nodes and hosts of all ranks as JSON", false, false, true}, write_json},
}};

constexpr auto formats = [] {
  std::array<MapFormat, writers.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = writers[i].format;
  return all;
}();

Result<Hosts> host_names(const Topology& t, const Hosts& given) {
  const std::uint32_t nodes = t.graph.node_count();
  if (given.empty()) {
    Hosts names(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) names[n] = node_name(t, NodeId(n));
    return names;
  }
  if (given.size() == nodes) return given;
  return Error::call(fmt::format("{} host names for the {} nodes of {}; give one for each node",
                                 given.size(), nodes, t.name));
}

Status check_host(const std::string& host, std::uint32_t node) {
  const auto breaks = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '=' || c == '#' || c == ',' || c == ':';
  };
  if (!host.empty() && std::none_of(host.begin(), host.end(), breaks)) return {};
  return Error::call(
      fmt::format("node {} is called '{}', which is no name of a host; give the hosts of all nodes",
                  node, host));
}

}  // namespace

std::span<const MapFormat> map_formats() {
  return formats;
}

const MapFormat* find_map_format(std::string_view name) {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const MapFormat& format) { return format.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

namespace {

Result<std::string> write_sheet(const Topology& topology, std::uint32_t slots_per_node, Nodes nodes,
                                const WriteOptions& options) {
  for (const std::uint32_t node : nodes) WEFT_CHECK(node < topology.graph.node_count());
  const auto writer = std::find_if(writers.begin(), writers.end(), [&](const Writer& w) {
    return w.format.name == options.format;
  });
  if (writer == writers.end()) {
    std::vector<std::string_view> known;
    for (const MapFormat& format : formats) known.push_back(format.name);
    return Error::call(fmt::format("'{}' is no format of a map{}", options.format,
                                   suggest(options.format, known)));
  }
  auto hosts = host_names(topology, options.hosts);
  if (!hosts) return std::move(hosts).error();
  if (writer->format.names_hosts) {
    for (const std::uint32_t node : nodes)
      if (auto fine = check_host((*hosts)[node], node); !fine) return std::move(fine).error();
  }
  return writer->write({topology, slots_per_node, nodes, *hosts});
}

}  // namespace

Result<std::string> write_map(const Problem& problem, std::span<const std::uint32_t> nodes,
                              const WriteOptions& options) {
  WEFT_CHECK(nodes.size() == problem.ranks());
  return write_sheet(problem.topology(), problem.slots_per_node(), nodes, options);
}

Result<std::string> write_map(const Topology& topology, std::span<const std::uint32_t> nodes,
                              const WriteOptions& options) {
  std::vector<std::uint32_t> ranks(topology.graph.node_count());
  for (const std::uint32_t node : nodes) ++ranks[node];
  const auto most = std::max_element(ranks.begin(), ranks.end());
  return write_sheet(topology, most == ranks.end() ? 1 : *most, nodes, options);
}

}  // namespace weft::map
