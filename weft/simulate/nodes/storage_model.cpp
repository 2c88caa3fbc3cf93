// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <weft/simulate/nodes/storage_model.hpp>

namespace weft {

namespace {

// As many as asked for, at the same distance of each other.
std::vector<int> spread(int servers, std::uint32_t nodes) {
  std::vector<int> chosen;
  for (int i = 0; i < servers; ++i) {
    chosen.push_back(static_cast<int>(std::uint64_t{nodes} * static_cast<std::uint32_t>(i) /
                                      static_cast<std::uint32_t>(servers)));
  }
  return chosen;
}

}  // namespace

Status read_storage(const Config& config, std::uint32_t nodes, StorageModel& model) {
  ConfigTable table = config.table("storage");
  int servers = 0;
  table.get("servers", servers, 0, static_cast<int>(std::min<std::uint32_t>(nodes, 65536)));
  table.get("nodes", model.nodes);
  table.get("stripe", model.stripe);
  table.get("disk_rate", model.disk_rate);
  table.get("latency", model.latency);
  if (Status s = table.finish(); !s) return s;
  if (table.has("servers") && table.has("nodes"))
    return table.error_at("servers",
                          "servers spreads them over all nodes, nodes names them; keep "
                          "one of the two");
  if (model.nodes.empty()) model.nodes = spread(servers, nodes);
  for (const int node : model.nodes) {
    if (node < 0 || static_cast<std::uint32_t>(node) >= nodes)
      return table.error_at("nodes",
                            "nodes of servers must lie in 0 to " + std::to_string(nodes - 1));
  }
  if (model.stripe.count < 512) return table.error_at("stripe", "stripe must be at least 512 B");
  if (model.disk_rate.in_bit_per_s() <= 0)
    return table.error_at("disk_rate", "disk_rate must be above 0");
  if (model.latency < Duration::zero())
    return table.error_at("latency", "latency must not be negative");
  if (!model.any()) {
    for (const char* const key : {"stripe", "disk_rate", "latency"}) {
      if (table.has(key))
        return table.error_at(key, std::string(key) + " needs servers (servers = 4, or nodes)");
    }
  }
  return {};
}

}  // namespace weft
