// SPDX-License-Identifier: Apache-2.0
// What the system itself says about which hosts share a switch, from files that its tools write;
// for comparison with a finding.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::probe {

struct Known {
  std::string source;                        // "slurm topology.conf"
  std::map<std::string, std::string> on;     // Switch by host.
  std::map<std::string, std::string> above;  // Parent of a switch, where known.
  // Hosts with different names here are on different switches.
  bool apart = true;
};

// Slurm's topology.conf: SwitchName=s0 Nodes=h[0-3], SwitchName=top Switches=s[0-1].
Result<Known> read_slurm(std::string_view text, const std::string& path);
// Output of "lldpctl -f keyvalue" or "-f json" on each host, after a line "host NAME".
Result<Known> read_lldp(std::string_view text, const std::string& path);
// Output of hwloc's "lstopo --of xml" on each host, after a line "host NAME". It tells which hosts
// share a chassis or a machine, and so the switch in it; it does not tell which hosts do not.
Result<Known> read_hwloc(std::string_view text, const std::string& path);
// Lines 'HOST SWITCH', as weft probe --groups writes them.
Result<Known> read_groups(std::string_view text, const std::string& path);

// "slurm=FILE", "lldp=FILE", "hwloc=FILE", "groups=FILE".
Result<Known> read_known(const std::string& option);

// Slurm's notation for lists of names: "h[0-3,7],login".
Result<std::vector<std::string>> expand_names(std::string_view text);

struct Check {
  std::size_t compared = 0;  // Hosts that both know.
  std::vector<std::string> differences;
};
Check check_against(const Finding& finding, const Known& known);

}  // namespace weft::probe
