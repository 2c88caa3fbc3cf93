// SPDX-License-Identifier: Apache-2.0
// How much time passes after a test or probe that found nothing, so that a program that does
// nothing but poll makes progress. Anything that arrives from the network ends such a step early,
// so that the program does not see it later than it would have.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/units.hpp>

namespace weft::mpi {

class Idle {
 public:
  // Another poll found nothing: how long to wait now. `entered` is when the polling call began,
  // `now` is after its own cost.
  Duration step(Time entered, Time now) {
    if (entered != until_) {  // The program did something else, or something arrived.
      since_ = entered;
      polls_ = 0;
      step_ = Duration();
    } else if (++polls_ > polls_at_once) {
      // After 10,000 polls grow the step to 1/64 of the idle time: few polls, little overshoot.
      step_ = std::min((now - since_) / 64, longest);
    } else {
      const bool costs_nothing = now == until_;
      step_ = costs_nothing ? std::min(std::max(step_ * 2, Duration::ps(1)), Duration::ns(1))
                            : Duration();
    }
    until_ = now + step_;
    return step_;
  }
  // How long nothing else has happened.
  Duration lasting() const { return until_ - since_; }

 private:
  // More polls than from a program that only looks now and then while it works.
  static constexpr std::uint32_t polls_at_once = 10'000;
  static constexpr Duration longest = Duration::ms(100'000);

  Time since_, until_;
  Duration step_;
  std::uint32_t polls_ = 0;
};

}  // namespace weft::mpi
