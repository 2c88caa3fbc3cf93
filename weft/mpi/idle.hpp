// SPDX-License-Identifier: Apache-2.0
// How much time passes after a test or probe that found nothing, so that a program that asks again
// and again gets on where a call costs nothing. Whatever comes from the network ends such a step
// early, so that a program does not see it later than it would have.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/units.hpp>

namespace weft::mpi {

class Idle {
 public:
  // Another question found nothing: how long to wait now. Steps grow while nothing else moves the
  // clock: a few questions cost next to nothing, and a long wait takes not too many of them.
  Duration step(Time now) {
    if (now != until_) {
      asked_ = 0;
      step_ = Duration();
    } else {
      const Duration most = ++asked_ > patience ? Duration::ns(100) : Duration::ns(1);
      step_ = std::min(std::max(step_ * 2, Duration::ps(1)), most);
    }
    until_ = now + step_;
    return step_;
  }

 private:
  // More than a program asks that only looks now and then while it works.
  static constexpr std::uint32_t patience = 10'000;

  Time until_;
  Duration step_;
  std::uint32_t asked_ = 0;
};

}  // namespace weft::mpi
