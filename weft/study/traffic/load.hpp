// SPDX-License-Identifier: Apache-2.0
// Loads as a user writes them: flits per node and cycle, a share of the network's capacity, or
// bytes per second. A list is read once and means the same numbers on every network. And the
// highest load that a network carries, found by trying.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <functional>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

struct Load {
  enum class Unit { flits, capacity, rate };
  Unit unit = Unit::flits;
  double value = 0;  // Flits per node and cycle, or a share of the capacity (1 is all).
  Rate rate;         // Per node, with Unit::rate.
};

// "0.1", "0.02:0.30:0.02", "20%", "10%:90%:10%", "2 GB/s", and comma lists of these. Every load is
// above zero.
Result<std::vector<Load>> parse_loads(std::string_view text);

// What a load is measured against.
struct LoadScale {
  Duration cycle;
  Bytes flit;
  double capacity = 0;  // Flits per node and cycle; needed only for Unit::capacity.
};
double in_flits(const Load& load, const LoadScale& scale);

// The most that uniform traffic could get, in flits per node and cycle: half of it crosses the
// bisection, so 4 B / N with B cables there and N nodes, and at most one, a node's own cable. An
// error where the network has no bisection to speak of.
Result<double> uniform_capacity(const Topology& topology);

// The search for the highest load that is carried knows no network: the question "does it carry
// this load?" is passed in.
struct SearchSettings {
  double start = 0.05;
  double lowest = 1e-4, highest = 1;
  double tolerance = 0.02;  // Distance of the two ends, relative to the upper one.
};

struct Bracket {
  double stable = 0;    // Carried; 0: not even the lowest load was.
  double unstable = 0;  // Not carried; 0: even the highest load was.
};

// Doubles from the start until a load is not carried (or halves until one is), then halves the
// interval. Loads are whole millionths.
Result<Bracket> find_saturation(const SearchSettings& settings,
                                const std::function<Result<bool>(double load)>& carries);

}  // namespace weft
