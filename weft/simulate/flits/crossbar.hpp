// SPDX-License-Identifier: Apache-2.0
// The pace of a switch that is faster or slower than the links (router.switch_rate). Each of its
// inputs and outputs passes that many flits in the long run, and never more in a cycle than fit
// into it; what is left of a cycle that is too short for another flit counts for the next.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/units.hpp>

namespace weft::flits {

// Counts in ticks, of which a cycle has many: rates that divide each other come out even.
struct Crossbar {
  static constexpr std::int64_t cycle = std::int64_t{1} << 20;
  static constexpr std::int64_t cycles_max = 32'768;  // Of a flit.

  // Ticks of a flit. 0: a cycle, which the allocator's single matching keeps by itself.
  std::int64_t flit = 0;
  int rounds = 1;  // Matchings in a cycle.

  // A switch of this rate (0: as fast as the links), where a cycle is a flit at the other one.
  static Crossbar of(Rate rate, Rate fastest_link) {
    if (rate == Rate()) return {};
    // Rounded down: two flits at twice the rate are no longer than a cycle.
    const auto flit = static_cast<std::int64_t>(std::clamp<detail::Wide>(
        static_cast<detail::Wide>(cycle) * fastest_link.in_bit_per_s() / rate.in_bit_per_s(),
        cycle / rounds_max, cycle * cycles_max));
    if (flit == cycle) return {};
    constexpr std::int64_t rounding = 256;
    const std::int64_t rounds = (cycle + flit - rounding) / flit;
    return {flit, static_cast<int>(std::max<std::int64_t>(rounds, 1))};
  }
  bool is_paced() const { return flit != 0; }

 private:
  static constexpr std::int64_t rounds_max = 1024;
};

// Since the beginning. Simulated days have more of them than 64 bits count.
using Ticks = weft::detail::Wide;

// Of an end of a router: when its input and its output of a paced switch are free again.
struct SwitchEnd {
  Ticks in_free_at = 0, out_free_at = 0;
};

// Whether an input or output that is free at this tick passes another flit in this cycle.
inline bool is_open(const Crossbar& crossbar, Ticks free_at, std::int64_t now) {
  const std::int64_t rest = std::max<std::int64_t>(Crossbar::cycle - crossbar.flit, 0);
  return free_at <= Ticks{now} * Crossbar::cycle + rest;
}

// A flit passes from one end to another, as soon as both were free.
inline void pass_switch(const Crossbar& crossbar, SwitchEnd& from, SwitchEnd& to,
                        std::int64_t now) {
  const Ticks begin = Ticks{now} * Crossbar::cycle;
  const Ticks free_at = std::max(from.in_free_at, to.out_free_at);
  const bool just = free_at > begin - std::min(Crossbar::cycle, crossbar.flit);
  from.in_free_at = to.out_free_at = (just ? free_at : begin) + crossbar.flit;
}

}  // namespace weft::flits
