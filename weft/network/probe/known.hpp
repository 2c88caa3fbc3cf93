// SPDX-License-Identifier: Apache-2.0
// What the system itself says about who shares a switch, from files that its tools write, to hold
// beside a finding.
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
  std::map<std::string, std::string> above;  // Switch above a switch, where it is told.
  bool apart = true;                         // Hosts of different names are on different switches.
};

// Slurm's topology.conf: SwitchName=s0 Nodes=h[0-3], SwitchName=top Switches=s[0-1].
Result<Known> read_slurm(std::string_view text, const std::string& path);
// What "lldpctl -f keyvalue" or "-f json" printed on each host, after a line "host NAME".
Result<Known> read_lldp(std::string_view text, const std::string& path);
// What hwloc's "lstopo --of xml" printed on each host, after a line "host NAME". It tells who
// shares a chassis, or is another system on the same machine, and so the switch in it; not who does
// not.
Result<Known> read_hwloc(std::string_view text, const std::string& path);
// A line 'HOST SWITCH' each, as weft probe --groups writes.
Result<Known> read_groups(std::string_view text, const std::string& path);

// "slurm=FILE", "lldp=FILE", "hwloc=FILE", "groups=FILE".
Result<Known> read_known(const std::string& option);

// "h[0-3,7],login" as Slurm writes lists of names.
Result<std::vector<std::string>> expand_names(std::string_view text);

struct Check {
  std::size_t compared = 0;  // Hosts that both know.
  std::vector<std::string> differences;
};
Check check_against(const Finding& finding, const Known& known);

}  // namespace weft::probe
