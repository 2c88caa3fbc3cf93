// SPDX-License-Identifier: Apache-2.0
// Maps utilisation to the bytes of a heat map.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/output/record/network_facts.hpp>

namespace weft::report {

// 255 times the share; a share above zero never becomes 0.
std::uint8_t heat_byte(double share);

// Utilisation of each link over `time`, as bytes of a heat map. `network` must have all rates.
std::vector<std::uint8_t> heat_of_links(const NetworkFacts& network,
                                        const std::vector<double>& bytes, double seconds);
// Of each router's busiest link from or to one of its nodes.
std::vector<std::uint8_t> heat_of_node_links(const NetworkFacts& network,
                                             const std::vector<double>& injected,
                                             const std::vector<double>& ejected, double seconds);
std::vector<std::uint8_t> heat_of_buffers(const NetworkFacts& network,
                                          const std::vector<std::uint64_t>& levels);

// Keeps only the links that carry data; unplugged ports would clutter every picture. `kept`
// receives the original numbers of the links.
NetworkFacts without_gaps(const NetworkFacts& all, std::vector<std::uint32_t>& kept);

}  // namespace weft::report
