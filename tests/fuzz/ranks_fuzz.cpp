// SPDX-License-Identifier: Apache-2.0
// Fuzz target: files that say on which node each rank runs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/network/topo/rank_file.hpp>

using namespace weft;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Topology topology = *make_topology("torus:4x4,p=2");
  RankFileReading how;
  how.path = "input";
  how.rails = 1 + data[0] % 2;
  how.room = data[0] / 2 % 3;
  how.ranks = data[0] / 8 % 17;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto read = parse_rank_file(text, how, topology);
  if (!read) return 0;
  if (read->node.size() != how.ranks) std::abort();
  for (const std::uint32_t node : read->node)
    if (node >= topology.graph.node_count() / how.rails) std::abort();
  return 0;
}
