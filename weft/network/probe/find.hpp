// SPDX-License-Identifier: Apache-2.0
// The whole inference: from measurements to a finding.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/network/probe/finding.hpp>
#include <weft/network/probe/meter.hpp>

namespace weft::probe {

enum class Trials { automatic, never, always };

struct ProbeSettings {
  std::vector<std::string> hosts;  // Names, in the order of the meter's hosts; not empty.
  double seconds_max = 0;          // 0: no limit.
  Trials trials = Trials::automatic;
  const Finding* earlier = nullptr;  // Its hosts are assumed to be where they were.
  std::function<void(double share, const std::string& what)> progress;
};

Finding find_network(Meter& meter, const ProbeSettings& settings);

}  // namespace weft::probe
