// SPDX-License-Identifier: Apache-2.0
// The hosts of a job, and which ranks run on which host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::launch {

struct Host {
  std::string name;
  std::uint32_t slots = 0;  // 0: unknown.
};

// One line per host: a name, then optionally "slots=N"; '#' starts a comment. `path` is for error
// messages.
Result<std::vector<Host>> parse_host_file(std::string_view text, const std::string& path);
// "a,b,c", with slots as "a:4"; or the path of a file (it contains a '/' or exists).
Result<std::vector<Host>> read_hosts(const std::string& option);

// Whether the name denotes this machine.
bool is_this_host(std::string_view name, std::string_view own_name);

// Blocks of ranks, host by host: as many as it has slots, or equally many on each if slots are
// unknown. Ranks beyond all slots wrap around.
Result<std::vector<std::uint32_t>> place_by_blocks(const std::vector<Host>& hosts,
                                                   std::uint32_t ranks);

// Those that have none; they can get some later.
std::vector<HostRanks> spare_hosts(const std::vector<Host>& hosts,
                                   const std::vector<HostRanks>& used, std::string_view own_name);

// The hosts that have ranks; `host_of` is by rank. Hosts with the same name are merged.
std::vector<HostRanks> gather_ranks(const std::vector<Host>& hosts,
                                    const std::vector<std::uint32_t>& host_of,
                                    std::string_view own_name);

}  // namespace weft::launch
