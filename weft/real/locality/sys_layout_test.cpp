// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/sys_layout.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/test_interfaces.hpp>
#include <weft/real/locality/test_layouts.hpp>

namespace weft::locality {
namespace {

class Sys {
 public:
  explicit Sys(const std::string& name) : path(test_file(name)) {}
  void put(const std::string& file, const std::string& contents) const {
    const std::filesystem::path full = path + "/devices/system/" + file;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << contents << "\n";
  }
  // Writes the files that Linux has for such a machine.
  void put(const HostLayout& layout) const {
    put("node/online", "0-" + std::to_string(layout.nodes.size() - 1));
    for (const NumaNode& node : layout.nodes) {
      const std::string folder = "node/node" + std::to_string(node.index);
      put(folder + "/cpulist", node.cores.empty() ? "" : list_to_text(cpus_of(node)));
      put(folder + "/meminfo", "Node 0 MemTotal:  " + std::to_string(node.memory.count / 1024) +
                                   " kB\nNode 0 MemFree:  1 kB");
      std::string row;
      for (const int away : layout.distances[static_cast<std::size_t>(node.index)])
        row += std::to_string(away) + " ";
      put(folder + "/distance", row);
      for (const Core& core : node.cores)
        for (const int cpu : core.cpus) {
          const std::string topology = "cpu/cpu" + std::to_string(cpu) + "/topology";
          put(topology + "/thread_siblings_list", list_to_text(core.cpus));
          put(topology + "/physical_package_id", std::to_string(node.socket));
        }
    }
  }
  std::string path;
};

TEST(MachineFromSys, FindsNodesCoresAndDistances) {
  HostLayout layout = test_layout({2, 2, 2, 2});
  layout.nodes[3].cores.clear();
  layout.nodes[3].socket = 0;  // Memory-only nodes have no socket.
  const Sys sys("whole");
  sys.put(layout);
  const auto read = host_layout_from_sys(sys.path);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_text(*read), to_text(layout));
}

TEST(MachineFromSys, AssumesWhatIsNotTold) {
  const Sys sys("bare");
  sys.put("node/online", "0,2");
  sys.put("node/node0/cpulist", "0-1");
  sys.put("node/node2/cpulist", "2-3");
  sys.put("node/node2/distance", "20");
  const auto read = host_layout_from_sys(sys.path);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(
      to_text(*read),
      "memory_rate 160000000000;node 0 0 0 0 1;node 2 0 0 2 3;distances 10 20;distances 20 10");
}

TEST(MachineFromSys, SaysWhereNothingWasFound) {
  const auto read = host_layout_from_sys("/nowhere");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(),
            "NUMA nodes are not listed in '/nowhere/devices/system/node/online'");
}

TEST(FindHere, IsAtHomeWhereItsProcessorsAre) {
  const std::vector<int> own = cpus_of_this_process();
  ASSERT_FALSE(own.empty());
  HostLayout layout = test_layout({2, 1, 1, 1});
  layout.nodes[0].cores = {{{own.back() + 1}}};
  layout.nodes[1].cores = {{own}};
  const std::vector<Interface> rails = {card("eth0", "10.1.0.1/24", 10, 1)};
  const ProcessPlace here = find_process_place(layout, rails);
  EXPECT_EQ(here.place.node, 1);
  EXPECT_EQ(here.place.cpus, own);
  EXPECT_EQ(here.binding, Binding::none);
  EXPECT_EQ(here.rails[0].nodes, std::vector<int>{1});
  EXPECT_EQ(*parse_process_place(to_text(here)), here);
  layout.nodes[1].cores = {{{own.back() + 2}}};
  EXPECT_EQ(find_process_place(layout, rails).place.node, -1);
}

}  // namespace
}  // namespace weft::locality
