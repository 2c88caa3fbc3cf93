// SPDX-License-Identifier: Apache-2.0
// What the servers of files are: the table [storage] of a network file. Stripe after stripe, a file
// lies on one server after the other; a server does one access after the other, which takes its
// disk a latency and the time of the bytes.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

struct StorageModel {
  std::vector<int> nodes;  // Of the servers, in the order of stripes; empty: there are none.
  Bytes stripe{std::int64_t{1} << 20};
  Rate disk_rate = Rate::gbyte_per_s(2);  // Of each server.
  Duration latency;                       // Of each access to a stripe.

  bool any() const { return !nodes.empty(); }
  std::uint32_t server_of(std::int64_t offset) const {
    return static_cast<std::uint32_t>(offset / stripe.count %
                                      static_cast<std::int64_t>(nodes.size()));
  }
};

// Fills `model` from the table; without one there are no servers.
Status read_storage(const Config& config, std::uint32_t nodes, StorageModel& model);

}  // namespace weft
