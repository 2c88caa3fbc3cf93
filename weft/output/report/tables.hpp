// SPDX-License-Identifier: Apache-2.0
// For scripts: tables as CSV, everything as JSON, and what there is.
#pragma once

#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

std::string list_contents(std::span<const RunView> views);
std::string to_json(std::span<const RunView> views);
// Tables, "summary", and charts by their ids (curve, x, y). Unknown: the error names those there
// are.
Result<std::string> table_csv(const RunView& view, const std::string& id);

}  // namespace weft::report
