// SPDX-License-Identifier: Apache-2.0
// Output for scripts: tables as CSV, everything as JSON, and a listing of what is available.
#pragma once

#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

std::string list_contents(std::span<const RunView> views);
std::string to_json(std::span<const RunView> views);
// The summary of all runs side by side, for a terminal.
std::string summary_text(std::span<const RunView> views);
// The tables "summary" and "settings" of several runs side by side: a column for each run.
Result<std::string> side_by_side_csv(std::span<const RunView> views, const std::string& id);
// Tables, "summary", and charts by id (curve, x, y). The error for an unknown id names the known
// ones.
Result<std::string> table_csv(const RunView& view, const std::string& id);

}  // namespace weft::report
