// SPDX-License-Identifier: Apache-2.0
// Packets that may take any port of a row, the one with least queued first. A policy that says so
// leaves it to the router to put the ports in order, which knows their queues and mostly needs only
// the first (Policy::queue_rows).
#pragma once

#include <cstdint>

#include <weft/network/route/policy.hpp>

namespace weft::detail {

// Ports [first, first + count). Of equal ones that comes first which is nearest after `begin`,
// counted from the first one, and round the row. A row of one port may be Choice::eject.
struct QueueRow {
  std::uint16_t first = 0, count = 0, begin = 0;
  VcMask vcs = 0;
  std::uint64_t state = 0;  // Choice::state of all.
};

class QueueRows {
 public:
  virtual ~QueueRows() = default;
  // No row has more ports.
  virtual int longest() const = 0;
  // False: what Policy::next() says of this packet is no row. Else it says the same as the row, up
  // to Choices::capacity.
  virtual bool find(RouterId here, const Flight& flight, QueueRow& row) const = 0;
};

}  // namespace weft::detail
