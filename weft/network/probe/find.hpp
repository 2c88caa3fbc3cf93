// SPDX-License-Identifier: Apache-2.0
// The whole inference: from a meter to a finding.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/network/probe/finding.hpp>
#include <weft/network/probe/meter.hpp>

namespace weft::probe {

enum class Trials { automatic, never, always };

struct Wish {
  std::vector<std::string> hosts;  // Names, in the order of the meter's hosts; at least one.
  double seconds_max = 0;          // 0: as long as it takes.
  Trials trials = Trials::automatic;
  const Finding* earlier = nullptr;  // Hosts that it knows are believed to be where they were.
  std::function<void(double share, const std::string& what)> progress;
};

Finding find_network(Meter& meter, const Wish& wish);

}  // namespace weft::probe
