// SPDX-License-Identifier: Apache-2.0
// For tests only: the same work done by several processes, which are threads here.
#pragma once

#include <thread>
#include <type_traits>
#include <vector>

#include <weft/parallel/processes/local.hpp>

namespace weft {

// What each of them came to.
template <typename Work>
auto among(int processes, Work&& work) {
  const auto peers = make_local_group(processes);
  std::vector<std::invoke_result_t<Work, ProcessGroup&>> results(peers.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < peers.size(); ++p)
    threads.emplace_back([&, p] { results[p] = work(*peers[p]); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace weft
