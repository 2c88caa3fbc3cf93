// SPDX-License-Identifier: Apache-2.0
// What a user asks for: "full", "on-demand", "managed", "managed,shortcuts=4,replace=random",
// "managed,max=32,groups=FILE".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/options.hpp>

namespace weft::conn {

struct Request {
  Options options;
  std::optional<std::uint32_t> most;  // Connections of a rank in all.
  std::string groups_file;            // Empty: as the network says.
};

Result<Request> parse_request(const std::string& text);
std::string to_text(Mode mode);

// A line "RANK GROUP" for each rank, in any order; '#' begins a comment.
Result<std::vector<std::uint32_t>> read_groups(const std::string& path, std::uint32_t ranks);

// A line "HOST SWITCH" for each host, as weft probe --groups writes them; `file` is for errors.
Result<std::vector<std::uint32_t>> groups_of_hosts(const std::string& text, const std::string& file,
                                                   const std::vector<std::string>& host_of_rank);

// Groups from switches: where these are small, those that follow each other make one, of about the
// square root of all ranks.
std::vector<std::uint32_t> groups_of_switches(const std::vector<std::uint32_t>& switch_of_rank);

// Lays out neighbours, and sets the shortcuts in `options` that a limit of all connections leaves.
Result<Layout> lay_out(const Request& request, const std::vector<std::uint32_t>& groups,
                       Options& options);

}  // namespace weft::conn
