// SPDX-License-Identifier: Apache-2.0
// One run of the probe program under weft run or weft sim: its input and its answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/probe/finding.hpp>

namespace weft::app {

// Called with the share that is done, and what is being done.
using ProbeProgress = std::function<void(double share, const std::string& what)>;

// The probe program, as weft starts it.
struct ProbeProgram {
  std::vector<std::string> words;     // Arguments of weft before the program: "run", "-n", ...
  std::vector<std::string> settings;  // Arguments of the program.
  std::string input;
  ProbeProgress progress;  // May be empty.
  int only_on = -1;        // The processor to which it is bound; -1: none.
};

struct ProbeOutput {
  std::string text;
  bool interrupted = false;
};

// Runs the program and returns what it printed; an error if it printed nothing.
Result<ProbeOutput> run_probe_program(const ProbeProgram& program);

struct ProbeJob {
  std::vector<std::string> words;  // Arguments of weft before the program: "run", "--hosts", ...
  std::vector<std::string> settings;
  std::vector<std::string> hosts;
  const probe::Finding* earlier = nullptr;
  ProbeProgress progress;  // May be empty.
};

struct ProbeAnswer {
  probe::Finding finding;
  bool interrupted = false;
};

// Runs the program and reads its finding. After Ctrl-C that is the finding so far.
Result<ProbeAnswer> run_probe(const ProbeJob& job);

}  // namespace weft::app
