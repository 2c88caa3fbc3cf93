// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: machines of any shape.
#pragma once

#include <weft/real/locality/host_layout.hpp>

namespace weft::locality {

struct Shape {
  int sockets = 1;
  int nodes = 1;  // Per socket.
  int cores = 1;  // Per node.
  int threads = 1;
};

// Processors are numbered in order. Distances: 10 local, 12 within the socket, 21 to other sockets.
inline HostLayout test_layout(Shape shape) {
  HostLayout layout;
  const int count = shape.sockets * shape.nodes;
  int cpu = 0;
  for (int i = 0; i < count; ++i) {
    NumaNode node{i, i / shape.nodes, Bytes{std::int64_t{1} << 30}, {}};
    for (int core = 0; core < shape.cores; ++core) {
      node.cores.emplace_back();
      for (int thread = 0; thread < shape.threads; ++thread)
        node.cores.back().cpus.push_back(cpu++);
    }
    layout.nodes.push_back(node);
    layout.distances.emplace_back();
    for (int j = 0; j < count; ++j)
      layout.distances.back().push_back(i == j ? 10 : i / shape.nodes == j / shape.nodes ? 12 : 21);
  }
  return layout;
}

}  // namespace weft::locality
