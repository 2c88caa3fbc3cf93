// SPDX-License-Identifier: Apache-2.0
// What the runs of a report were asked to do, and in what they differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/output/report/view.hpp>

namespace weft::report {

// A setting that is not the same in all runs.
struct Difference {
  std::string key;
  std::vector<std::optional<std::string>> values;  // By run; nothing: the run has no such setting.
};

// Runs of one kind are compared in all settings, runs of several kinds in those that all have.
// Nothing if a run has no settings, as records of former versions.
std::vector<Difference> differing_settings(std::span<const RunView> views);

// Adds the differences to the facts of each run, so that they stand in the summary.
void add_differences(std::span<RunView> views);

}  // namespace weft::report
