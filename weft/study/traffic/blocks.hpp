// SPDX-License-Identifier: Apache-2.0
// Curves that are read together, and what a comparison of policies says about them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/study/traffic/sweep.hpp>

namespace weft {

struct Block {
  std::string text;                  // What the curves share.
  std::vector<const Curve*> curves;  // In the order of the sweep.
};
// One for each combination of variations of a comparison; otherwise one for the whole sweep.
std::vector<Block> blocks_of(const Sweep& sweep);
// Tells the curve from the others of its block.
const std::string& label_in_block(const Scenario& scenario);

// Buffer of one VC. One given in bytes may hold a part of a flit.
double buffer_flits(const Scenario& scenario);

// Rates are flits per node and cycle, latencies cycles.
struct ComparedRow {
  const Curve* curve = nullptr;
  // The stable end of the search, or the highest load of a list below the first that saturated;
  // nothing: none was carried.
  std::optional<double> saturation;
  bool reached = true;  // Otherwise no load that was tried saturated: it may lie higher.
  double peak_accepted = 0;
  std::optional<double> ratio;    // Saturation over that of the reference.
  std::optional<double> latency;  // At the block's common load.
  double news_share_mean = 0;     // At the saturation.
};

struct Comparison {
  std::string text;
  std::vector<ComparedRow> rows;
  std::size_t reference = 0;          // The default routing with its own VCs, or the first row.
  std::optional<double> common_load;  // The highest that every row carried and has a point at.
  bool searched = false;              // Otherwise saturations are loads of the list.
};
// One per block; none if the sweep is not a comparison.
std::vector<Comparison> compare_curves(const Sweep& sweep);

}  // namespace weft
