// SPDX-License-Identifier: Apache-2.0
// The machine as hwloc sees it.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>

#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/host_plan.hpp>

#ifdef WEFT_HWLOC
#include <hwloc.h>
#endif

namespace weft::locality {

#ifndef WEFT_HWLOC

Result<HostLayout> read_host_layout(const std::string&) {
  return Error::run(
      "this weft was built without hwloc, so slots of cards are not known; install libhwloc-dev "
      "and "
      "build again");
}

#else

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&::hwloc_topology_destroy)>;

std::vector<int> numbers_of(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  if (set == nullptr || hwloc_bitmap_weight(set) < 0) return numbers;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) numbers.push_back(i);
  return numbers;
}

Result<Topology> load(const std::string& xml_path) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return Error::run("hwloc cannot start");
  Topology topology(raw, &::hwloc_topology_destroy);
  // Accelerator libraries take seconds to query and may start their drivers. PCI slots are read
  // from /sys; the PCI library reports no more and leaks memory.
  for (const char* name : {"cuda", "gl", "levelzero", "nvml", "opencl", "pci", "rsmi"})
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, name);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const std::string what = xml_path.empty() ? "this machine" : "'" + xml_path + "'";
  if (!xml_path.empty() && hwloc_topology_set_xml(raw, xml_path.c_str()) != 0)
    return Error::input(what + " is not a machine that hwloc can read (" + std::strerror(errno) +
                        "); write one with: lstopo file.xml");
  if (hwloc_topology_load(raw) != 0)
    return Error::input("hwloc cannot read " + what + " (" + std::strerror(errno) + ")");
  return topology;
}

// A core belongs to the first node that claims it: memory of another kind (HBM) lists the cores of
// the ordinary memory beside it.
std::vector<Core> cores_of(hwloc_topology_t topology, hwloc_obj_t node, std::set<int>& taken) {
  std::vector<Core> cores;
  const bool known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = known ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_inside_cpuset_by_type(topology, node->cpuset, type,
                                                            object)) != nullptr) {
    Core core;
    for (const int cpu : numbers_of(object->cpuset))
      if (taken.insert(cpu).second) core.cpus.push_back(cpu);
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  return cores;
}

void read_nodes(hwloc_topology_t topology, HostLayout& layout) {
  std::set<int> taken;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    layout.nodes.push_back({static_cast<int>(object->os_index),
                            package == nullptr ? 0 : static_cast<int>(package->logical_index),
                            Bytes{static_cast<std::int64_t>(object->attr->numanode.local_memory)},
                            cores_of(topology, object, taken)});
  }
  std::sort(layout.nodes.begin(), layout.nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.index < b.index; });
}

void read_distances(hwloc_topology_t topology, HostLayout& layout) {
  const std::size_t count = layout.nodes.size();
  layout.distances.assign(count, std::vector<int>(count, far_distance));
  for (std::size_t i = 0; i < count; ++i) layout.distances[i][i] = near_distance;
  hwloc_distances_s* found = nullptr;
  unsigned matrices = 1;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &matrices, &found,
                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
      matrices == 0)
    return;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      const auto at = [&](std::size_t position) {
        return hwloc_get_numanode_obj_by_os_index(
            topology, static_cast<unsigned>(layout.nodes[position].index));
      };
      hwloc_uint64_t there = 0, back = 0;
      if (hwloc_distances_obj_pair_values(found, at(i), at(j), &there, &back) == 0 && there > 0)
        layout.distances[i][j] = static_cast<int>(std::min<hwloc_uint64_t>(there, 1'000'000));
    }
  hwloc_distances_release(topology, found);
}

void read_card(hwloc_topology_t topology, hwloc_obj_t device, HostLayout& layout) {
  const hwloc_obj_osdev_type_t type = device->attr->osdev.type;
  if ((type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) ||
      device->name == nullptr)
    return;
  Nic card;
  card.name = device->name;
  card.openfabrics = type == HWLOC_OBJ_OSDEV_OPENFABRICS;
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
  if (near != nullptr) card.nodes = numbers_of(near->nodeset);
  // A NIC next to all nodes is next to none in particular.
  if (layout.nodes.size() > 1 && card.nodes.size() == layout.nodes.size()) card.nodes.clear();
  for (hwloc_obj_t up = device->parent; up != nullptr; up = up->parent) {
    if (up->type != HWLOC_OBJ_PCI_DEVICE) continue;
    const auto& pci = up->attr->pcidev;
    char bus[32];
    std::snprintf(bus, sizeof bus, "%04x:%02x:%02x.%01x", pci.domain, pci.bus, pci.dev, pci.func);
    card.bus = bus;
    card.link = Rate::bit_per_s(static_cast<std::int64_t>(std::llround(pci.linkspeed * 8e9)));
    break;
  }
  layout.nics.push_back(std::move(card));
}

// Nothing reports the rate of links between sockets, but they grew with the slots over the
// generations: about four of the widest slots at distance 10. Half of it is left to programs.
Rate guess_memory_rate(const std::vector<Nic>& cards) {
  Rate rate = least_memory_rate;
  for (const Nic& card : cards)
    rate = std::max(rate, Rate::bit_per_s(2 * card.link.in_bit_per_s()));
  return rate;
}

}  // namespace

Result<HostLayout> read_host_layout(const std::string& xml_path) {
  auto topology = load(xml_path);
  if (!topology) return std::move(topology).error();
  HostLayout layout;
  read_nodes(topology->get(), layout);
  read_distances(topology->get(), layout);
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_osdev(topology->get(), device)) != nullptr)
    read_card(topology->get(), device, layout);
  std::sort(layout.nics.begin(), layout.nics.end(),
            [](const Nic& a, const Nic& b) { return a.name < b.name; });
  layout.memory_rate = guess_memory_rate(layout.nics);
  if (cpus_of(layout).empty()) return Error::input("hwloc finds no processor in this machine");
  return xml_path.empty() ? keep_cpus(std::move(layout), cpus_of_this_process()) : layout;
}

#endif

}  // namespace weft::locality
