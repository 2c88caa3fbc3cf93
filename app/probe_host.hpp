// SPDX-License-Identifier: Apache-2.0
// weft probe --local: runs the probe program on one host and makes its table [node].
#pragma once

#include <string>
#include <vector>

#include "probe_job.hpp"

#include <weft/base/result.hpp>
#include <weft/network/probe/local.hpp>

namespace weft::app {

struct HostProbe {
  std::string host;                  // Empty: this machine.
  std::vector<std::string> options;  // Of weft run: --rsh and others.
  ProbeProgress progress;            // May be empty.
};

struct HostFound {
  std::string host;
  probe::LocalMeasures measures;
  probe::LocalNode node;
};

Result<HostFound> probe_host(const HostProbe& request);

}  // namespace weft::app
