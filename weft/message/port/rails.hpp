// SPDX-License-Identifier: Apache-2.0
// Facts about the rails that lead from one rank to others.
#pragma once

#include <cstddef>
#include <span>

#include <weft/message/port/frame.hpp>

namespace weft {

struct RailFacts {
  Rate rate;
  Duration latency;
  bool up = true;
  bool frames = true;  // false: it carries writes only; frames take another rail.
};

class Rails {
 public:
  virtual ~Rails() = default;

  virtual int rail_count(RankId peer) const = 0;
  virtual RailFacts rail_facts(RankId peer, RailId rail) const = 0;
  // `rates` holds the rate of each rail, in bytes per second. Lowers the rates of rails that are
  // slower for data at this address (memory of another NUMA node).
  virtual void lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const = 0;
};

}  // namespace weft
