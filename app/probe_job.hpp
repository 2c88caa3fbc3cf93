// SPDX-License-Identifier: Apache-2.0
// One run of the probe program under weft run or weft sim: its input and its answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::app {

struct ProbeJob {
  std::vector<std::string> words;  // Arguments of weft before the program: "run", "--hosts", ...
  std::vector<std::string> settings;
  std::vector<std::string> hosts;
  const probe::Finding* earlier = nullptr;
  std::function<void(double share, const std::string& what)> progress;  // May be empty.
};

struct ProbeAnswer {
  probe::Finding finding;
  bool interrupted = false;
};

// Runs the program and reads its finding. After Ctrl-C that is the finding so far.
Result<ProbeAnswer> run_probe(const ProbeJob& job);

}  // namespace weft::app
