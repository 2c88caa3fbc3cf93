// SPDX-License-Identifier: Apache-2.0
#include "run_hosts.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/network/topo/random_map.hpp>
#include <weft/network/topo/rank_file.hpp>
#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/hosts.hpp>

namespace weft::app {
namespace {

constexpr const char* slurm_hosts_variable = "SLURM_JOB_NODELIST";

std::string own_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// The hosts of the Slurm job that this process is part of. Only Slurm can expand its host lists.
Result<std::vector<launch::Host>> slurm_hosts() {
  std::FILE* const listing = ::popen("scontrol show hostnames \"$SLURM_JOB_NODELIST\"", "re");
  std::string text;
  std::array<char, 4096> bytes;
  for (std::size_t size = 1; listing != nullptr && size > 0;) {
    size = std::fread(bytes.data(), 1, bytes.size(), listing);
    text.append(bytes.data(), size);
  }
  if (listing == nullptr || ::pclose(listing) != 0)
    return Error::run("scontrol does not name the hosts of this Slurm job; name them with --hosts");
  return launch::parse_host_file(text, "scontrol show hostnames");
}

bool by_slurm(const RunPlacing& placing) {
  return placing.hosts.empty() && launch::variable(slurm_hosts_variable);
}

Result<std::vector<launch::Host>> find_hosts(const RunPlacing& placing) {
  if (!placing.hosts.empty()) return launch::read_hosts(placing.hosts);
  if (by_slurm(placing)) return slurm_hosts();
  return std::vector<launch::Host>{{own_name(), 0}};
}

// The requested number; else one for every slot, the tasks of a Slurm job, or one.
Result<std::uint32_t> count_ranks(const RunPlacing& placing,
                                  const std::vector<launch::Host>& hosts) {
  std::int64_t ranks = placing.ranks;
  if (ranks == 0)
    for (const launch::Host& host : hosts) ranks += host.slots;
  if (ranks == 0 && by_slurm(placing))
    if (const auto tasks = parse_int(launch::variable("SLURM_NTASKS").value_or("")); tasks)
      ranks = *tasks;
  if (ranks == 0) ranks = 1;
  if (ranks < 1 || ranks > launch::ranks_max)
    return Error::call(fmt::format("-n: {} is outside of 1 to {}", ranks, launch::ranks_max));
  return static_cast<std::uint32_t>(ranks);
}

// The nodes of a map are the hosts, in the order in which they are listed.
Result<std::vector<std::uint32_t>> read_map(const std::string& path,
                                            const std::vector<launch::Host>& hosts,
                                            std::uint32_t ranks) {
  std::string text = "weft-graph 1\nrouter hosts\n";
  for (const launch::Host& host : hosts) text += "node " + host.name + " hosts\n";
  const auto nodes = read_graph_text(text, "the list of hosts");
  if (!nodes) return Error(nodes.error());
  auto places = read_rank_file({.path = path, .ranks = ranks}, *nodes);
  if (!places) return std::move(places).error();
  return std::move(places->node);
}

// By rank: its host.
Result<std::vector<std::uint32_t>> find_places(const std::string& map,
                                               const std::vector<launch::Host>& hosts,
                                               std::uint32_t ranks) {
  const auto seed = random_map_seed(map);
  if (!seed) return seed.error();
  if (!map.empty() && !seed->has_value()) return read_map(map, hosts, ranks);
  auto blocks = launch::place_by_blocks(hosts, ranks);
  if (!blocks || map.empty()) return blocks;
  std::vector<std::uint32_t> host_of;
  for (const std::uint32_t place : random_places(ranks, **seed))
    host_of.push_back((*blocks)[place]);
  return host_of;
}

}  // namespace

Result<RunPlaces> place_ranks(const RunPlacing& placing) {
  const auto hosts = find_hosts(placing);
  if (!hosts) return Error(hosts.error());
  const auto ranks = count_ranks(placing, *hosts);
  if (!ranks) return Error(ranks.error());
  auto host_of = find_places(placing.map, *hosts, *ranks);
  if (!host_of) return std::move(host_of).error();
  RunPlaces places;
  places.used = launch::gather_ranks(*hosts, *host_of, own_name());
  places.spare = launch::spare_hosts(*hosts, places.used, own_name());
  for (const launch::Host& host : *hosts) places.slots += host.slots;
  return places;
}

std::vector<std::string> usual_remote_shell(const RunPlacing& placing) {
  // Slurm clusters often forbid ssh, but srun works inside a job.
  if (by_slurm(placing)) {
    return {"srun",      "--overlap",  "--quiet",      "--mpi=none",
            "--nodes=1", "--ntasks=1", "--nodelist=%h"};
  }
  return {"ssh", "-o", "BatchMode=yes"};
}

}  // namespace weft::app
