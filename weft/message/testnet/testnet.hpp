// SPDX-License-Identifier: Apache-2.0
// An ideal network inside one thread, for testing what stands on a Fabric: ranks are fibers, frames
// arrive in an order drawn from a seed. Time is the number of steps made, and means nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft {

// Connections on a network that needs them: it checks that nothing is sent without one, and that
// nothing is under way when one is closed.
struct TestnetConnections {
  bool needed = false;
  std::uint32_t most = 0;        // Limit of one rank; 0: none.
  int refused_percent = 0;       // Percentage of other requests refused.
  std::uint32_t host_ranks = 1;  // Ranks per host; they need no connections.
};

struct TestnetOptions {
  std::uint64_t seed = 1;
  int rails = 1;
  bool ordered = true;  // false: frames of one pair overtake each other.
  bool carries_data = true;
  int unsent_percent = 0;  // Percentage of writes that come back as unsent; half of them arrive.
  std::size_t stack_bytes = std::size_t{256} * 1024;
  TestnetConnections connections;
  // Ranks that are lost at this step. What they had sent may have arrived or not; their bodies end
  // by an exception at their next look at the network.
  struct Loss {
    RankId rank;
    std::int64_t step = 0;
  };
  std::vector<Loss> losses;
  // Counted for the tests' own closed forms.
  std::uint64_t* frames = nullptr;
  std::uint64_t* bytes = nullptr;
  // Frames that wait for one rank, at most, over the whole run.
  std::uint64_t* most_waiting = nullptr;
  // Connections of one rank, at most, over the whole run.
  std::uint32_t* most_connected = nullptr;
};

// Runs body once per rank until all have returned. Current is set while a rank runs; what it sets
// as its layer is kept for it. In a deadlock the error names what each rank waits for.
Status run_on_testnet(std::uint32_t ranks, const TestnetOptions& options,
                      const std::function<void(const Fabric&)>& body);

}  // namespace weft
