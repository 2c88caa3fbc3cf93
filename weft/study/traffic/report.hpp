// SPDX-License-Identifier: Apache-2.0
// A sweep as text for people, CSV and JSON for programs, and charts. Columns carry their units;
// numbers are written so that reading them gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/output/plot/chart.hpp>
#include <weft/study/traffic/sweep.hpp>

namespace weft {

std::string sweep_table(const Sweep& sweep, double factor);
// A line for each policy of a comparison, block by block; empty for other sweeps.
std::string comparison_table(const Sweep& sweep, double factor);
// Where each `models` curves that follow each other are models of one network: what they say at the
// same loads, how far each is from the first, and how long each took. Empty for 0.
std::string models_table(const Sweep& sweep, std::size_t models);
std::string sweep_csv(const Sweep& sweep);
std::string sweep_json(const Sweep& sweep);
// Latency over load, with the axis ending at six times the latency of the idle network; accepted
// over offered. A pair of charts for each block of a comparison.
std::vector<Chart> sweep_charts(const Sweep& sweep, double factor);
// Digest of the CSV: two runs that agree here agree in every number.
std::string sweep_digest(const Sweep& sweep);

}  // namespace weft
