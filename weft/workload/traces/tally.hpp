// SPDX-License-Identifier: Apache-2.0
// Adds up the messages of a trace by pairs of ranks. A collective operation is seen as each member
// recorded its own part in it, and becomes the messages that a plain implementation would send.
// Inside this module only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft::detail {

enum class Spread {
  none,             // No data, or none that is known.
  from_root,        // The root sends to each member what it received.
  to_root,          // Each member sends to the root what it sent.
  evenly_sent,      // What a member sent goes to all members in equal shares.
  evenly_received,  // What a member received comes from all members in equal shares.
  doubling,         // Recursive doubling: the result comes from each partner at distance 2^k.
  chain,            // From the member before.
};

// By the number that OTF2 gives to the operation.
Spread spread_of(unsigned operation);

// A communicator as the trace defines it: the ranks in MPI_COMM_WORLD of its members, in order.
struct CommMembers {
  std::uint64_t group = 0;  // The same for communicators of the same members.
  std::span<const std::uint32_t> ranks;
};

// One member's part in one operation. Members are counted within the communicator.
struct CollectivePart {
  Spread spread = Spread::none;
  std::uint32_t member = 0;
  std::uint32_t root = 0;  // Where the spread has one.
  std::uint64_t sent = 0, received = 0;
};

class TrafficTally {
 public:
  void add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint64_t messages = 1);
  // The ranks of `comm` must outlive the tally; member and root are below their number.
  void add(const CommMembers& comm, const CollectivePart& part);
  Result<TrafficMatrix> finish(std::uint32_t ranks) &&;

 private:
  struct Sum {
    std::uint64_t bytes = 0, messages = 0;
    void add(std::uint64_t more_bytes, std::uint64_t more_messages);
  };
  // Spread over the pairs only when all are known: a program calls a collective many times.
  struct Shared {
    std::span<const std::uint32_t> ranks;
    std::vector<Sum> sent, received, doubled;  // By member; empty when never used.
  };

  Sum& sum_of(std::vector<Sum>& sums, const Shared& shared, std::uint32_t member);
  void spread_sent(const Shared& shared);
  void spread_received(const Shared& shared);
  void spread_doubled(const Shared& shared);

  std::unordered_map<std::uint64_t, Sum> pairs_;  // By from * 2^32 + to. Order is given at the end.
  std::map<std::uint64_t, Shared> shared_;        // By group.
};

}  // namespace weft::detail
