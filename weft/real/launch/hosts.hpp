// SPDX-License-Identifier: Apache-2.0
// Which hosts a job may use, and which ranks go where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/front.hpp>

namespace weft::launch {

struct Host {
  std::string name;
  std::uint32_t slots = 0;  // 0: not said.
};

// A line for each: a name, then perhaps "slots=N"; '#' begins a comment. `path` is for messages.
Result<std::vector<Host>> parse_host_file(std::string_view text, const std::string& path);
// "a,b,c", with slots as "a:4"; or the path of a file (it has a '/' or is there).
Result<std::vector<Host>> read_hosts(const std::string& option);

// Whether a name means the machine that this runs on.
bool is_this_host(std::string_view name, std::string_view own_name);

// Blocks of ranks, host after host: as many as it has slots, or equally many on each if nobody
// says. What is more than all slots goes round again.
Result<std::vector<std::uint32_t>> place_by_blocks(const std::vector<Host>& hosts,
                                                   std::uint32_t ranks);

// The hosts that have ranks; `host_of` is by rank. Hosts of one name are one.
std::vector<HostRanks> gather_ranks(const std::vector<Host>& hosts,
                                    const std::vector<std::uint32_t>& host_of,
                                    std::string_view own_name);

}  // namespace weft::launch
