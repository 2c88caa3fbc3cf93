// SPDX-License-Identifier: Apache-2.0
// Charts of one kind from several runs as one chart, as on the page.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <weft/output/report/view.hpp>

namespace weft::report {

// A colour is a run, dashes and markers are a series, the same in every run. Nothing if no run has
// this chart.
std::optional<ChartView> merge_charts(std::span<const RunView> views, const std::string& id);

}  // namespace weft::report
