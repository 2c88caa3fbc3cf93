// SPDX-License-Identifier: Apache-2.0
// One run of the probe program, by weft run or weft sim: what it is told and what it answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::app {

struct ProbeJob {
  std::vector<std::string> words;  // Of weft: "run", "--hosts", ... up to the program.
  std::vector<std::string> settings;
  std::vector<std::string> hosts;
  const probe::Finding* earlier = nullptr;
  std::function<void(double share, const std::string& what)> progress;  // Empty: nobody watches.
};

struct ProbeAnswer {
  probe::Finding finding;
  bool interrupted = false;
};

// What the program finds. Ctrl-C ends it in order, with what it has by then.
Result<ProbeAnswer> run_probe(const ProbeJob& job);

}  // namespace weft::app
