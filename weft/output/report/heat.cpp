// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <weft/output/report/heat.hpp>

namespace weft::report {

std::uint8_t heat_byte(double share) {
  const double byte = std::round(255 * std::clamp(share, 0.0, 1.0));
  return static_cast<std::uint8_t>(share > 0 ? std::max(byte, 1.0) : 0);
}

std::vector<std::uint8_t> heat_of_links(const NetworkFacts& network,
                                        const std::vector<double>& bytes, double seconds) {
  std::vector<std::uint8_t> heat(bytes.size());
  for (std::size_t l = 0; l < bytes.size(); ++l) {
    const double rate = network.link_byte_per_s[l];
    heat[l] = heat_byte(rate > 0 ? bytes[l] / seconds / rate : 0);
  }
  return heat;
}

std::vector<std::uint8_t> heat_of_node_links(const NetworkFacts& network,
                                             const std::vector<double>& injected,
                                             const std::vector<double>& ejected, double seconds) {
  std::vector<std::uint8_t> heat(network.routers, 0);
  for (const auto& [bytes, rates] : {std::pair{&injected, &network.injection_byte_per_s},
                                     {&ejected, &network.ejection_byte_per_s}}) {
    for (std::size_t n = 0; n < bytes->size(); ++n) {
      std::uint8_t& most = heat[static_cast<std::size_t>(network.node_router[n])];
      const double rate = (*rates)[n];
      most = std::max(most, heat_byte(rate > 0 ? (*bytes)[n] / seconds / rate : 0));
    }
  }
  return heat;
}

std::vector<std::uint8_t> heat_of_buffers(const NetworkFacts& network,
                                          const std::vector<std::uint64_t>& levels) {
  std::vector<std::uint8_t> heat(levels.size());
  for (std::size_t r = 0; r < levels.size(); ++r) {
    const double room = network.router_buffer_bytes[r];
    heat[r] = heat_byte(room > 0 ? static_cast<double>(levels[r]) / room : 0);
  }
  return heat;
}

NetworkFacts without_gaps(const NetworkFacts& all, std::vector<std::uint32_t>& kept) {
  NetworkFacts facts = all;
  facts.link_from.clear();
  facts.link_to.clear();
  facts.link_port.clear();
  facts.link_byte_per_s.clear();
  kept.clear();
  for (std::uint32_t l = 0; l < all.links(); ++l) {
    if (all.link_to[l] < 0) continue;
    kept.push_back(l);
    facts.link_from.push_back(all.link_from[l]);
    facts.link_to.push_back(all.link_to[l]);
    facts.link_port.push_back(all.link_port[l]);
    if (!all.link_byte_per_s.empty()) facts.link_byte_per_s.push_back(all.link_byte_per_s[l]);
  }
  return facts;
}

}  // namespace weft::report
