// SPDX-License-Identifier: Apache-2.0
// How shares become colours of a heat map.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/output/record/network_facts.hpp>

namespace weft::report {

// 255 times the share; what is not nothing does not become 0.
std::uint8_t heat_byte(double share);

// What each link carried in so much time, as bytes of a heat map; `network` has all rates.
std::vector<std::uint8_t> heat_of_links(const NetworkFacts& network,
                                        const std::vector<double>& bytes, double seconds);
std::vector<std::uint8_t> heat_of_buffers(const NetworkFacts& network,
                                          const std::vector<std::uint64_t>& levels);

// Only links that carry data; unplugged ports would be in the way of every picture. `kept`: the
// numbers that the links had.
NetworkFacts without_gaps(const NetworkFacts& all, std::vector<std::uint32_t>& kept);

}  // namespace weft::report
