// SPDX-License-Identifier: Apache-2.0
// When a node's packets are born: the cycles from one birth to the next. What belongs to a node is
// in its Source; the process itself does not change, so one serves all nodes and workers.
#pragma once  // Public, for traffic: names and meanings stay within 0.1.

#include <cstdint>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/rng.hpp>
#include <weft/workload/patterns/probability.hpp>

namespace weft {

class Injection {
 public:
  struct Source {
    Rng rng{0};
    std::int64_t burst_left = 0;  // Bursty: cycles of the running burst that are not used up.
    std::uint64_t phase = 0;      // Periodic: share of the next packet, of 2^64.
  };

  // `spec` is "bernoulli", "bursty:ALPHA,BETA" or "periodic". REQUIRES: packets_per_cycle > 0. An
  // error where a node would have to start more than one packet in a cycle.
  static Result<Injection> make(std::string_view spec, double packets_per_cycle);

  Source start(Rng rng) const;
  // Cycles from the last birth to the next, at least 1. The first birth is gap - 1 cycles after the
  // beginning: cycle 0 is a chance like every other.
  std::int64_t gap(Source& source) const;

 private:
  enum class Kind { bernoulli, bursty, periodic };
  Injection(Kind kind, Probability birth) : kind_(kind), birth_(birth), wait_(birth) {}
  static Result<Injection> make_bursty(std::string_view parameters, double packets_per_cycle);
  std::int64_t bursty_gap(Source& source) const;
  std::int64_t periodic_gap(Source& source) const;

  Kind kind_;
  Probability birth_;  // In a cycle; bursty: in a cycle of a burst.
  Geometric wait_;
  Geometric silence_{Probability::always()};  // Lengths, in cycles.
  Geometric burst_{Probability::always()};
  Probability begins_in_burst_;
};

struct InjectionEntry {
  std::string_view usage;
  std::string_view help;
};
std::span<const InjectionEntry> injection_kinds();

}  // namespace weft
