// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/sys_layout.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <weft/base/text.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/number_list.hpp>

namespace weft::locality {
namespace {

// Empty if there is no such file.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

std::vector<int> read_list(const std::string& path) {
  auto list = parse_list(first_line(path));
  return list ? *std::move(list) : std::vector<int>{};
}

// "Node 0 MemTotal:       131072 kB"
Bytes read_memory(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  while (file >> word)
    if (word == "MemTotal:" && file >> word) {
      const auto kib = parse_int(word);
      return kib && *kib >= 0 && *kib < (std::int64_t{1} << 50) ? Bytes{*kib * 1024} : Bytes{};
    }
  return {};
}

int read_socket(const std::string& topology) {
  const auto socket = parse_int(first_line(topology + "/physical_package_id"));
  return socket && *socket >= 0 && *socket <= 65'535 ? static_cast<int>(*socket) : 0;
}

// The processors of a core list each other as siblings.
NumaNode read_node(const std::string& sys, int index) {
  const std::string folder = sys + "/devices/system/node/node" + std::to_string(index);
  NumaNode node{index, 0, read_memory(folder + "/meminfo"), {}};
  std::map<int, std::vector<int>> cores;
  for (const int cpu : read_list(folder + "/cpulist")) {
    const std::string topology =
        sys + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    const std::vector<int> siblings = read_list(topology + "/thread_siblings_list");
    cores[siblings.empty() ? cpu : siblings.front()].push_back(cpu);
    node.socket = read_socket(topology);
  }
  for (auto& [first, cpus] : cores) node.cores.push_back({std::move(cpus)});
  return node;
}

// False unless there is a distance for every node.
bool read_distances(const std::string& sys, const NumaNode& node, std::size_t count,
                    std::vector<int>& row) {
  std::ifstream file(sys + "/devices/system/node/node" + std::to_string(node.index) + "/distance");
  int away = 0;
  while (row.size() < count && file >> away && away > 0 && away <= 1'000'000) row.push_back(away);
  return row.size() == count;
}

}  // namespace

Result<HostLayout> host_layout_from_sys(const std::string& sys) {
  const std::string online = sys + "/devices/system/node/online";
  HostLayout layout;
  for (const int index : read_list(online)) layout.nodes.push_back(read_node(sys, index));
  if (cpus_of(layout).empty()) return Error::run("NUMA nodes are not listed in '" + online + "'");
  const std::size_t count = layout.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<int> row;
    if (!read_distances(sys, layout.nodes[i], count, row)) {
      row.assign(count, far_distance);
      row[i] = near_distance;
    }
    layout.distances.push_back(std::move(row));
  }
  return layout;
}

ProcessPlace find_process_place(const HostLayout& layout, std::span<const Interface> rails) {
  ProcessPlace here;
  here.layout = layout;
  here.rails = locate_rails(layout, rails);
  here.place.cpus = cpus_of_this_process();
  for (const NumaNode& node : layout.nodes) {
    const std::vector<int> own = cpus_of(node);
    const std::set<int> inside(own.begin(), own.end());
    if (!here.place.cpus.empty() && std::all_of(here.place.cpus.begin(), here.place.cpus.end(),
                                                [&](int cpu) { return inside.contains(cpu); }))
      here.place.node = node.index;
  }
  for (NumaNode& node : here.layout.nodes) node.cores.clear();
  return here;
}

}  // namespace weft::locality
