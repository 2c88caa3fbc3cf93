// SPDX-License-Identifier: Apache-2.0
// Cycles and flits of a scenario in the units of data sheets: nanoseconds and gigabytes a second.
#pragma once

#include <weft/study/traffic/scenario.hpp>

namespace weft {

inline double to_ns(const Scenario& scenario, double cycles) {
  return cycles * static_cast<double>(scenario.cycle().in_ps()) / 1000;
}

// Of flits per node and cycle; payload only.
inline double to_gbyte_per_s(const Scenario& scenario, double load) {
  return load * static_cast<double>(scenario.hardware.flit.count) / to_ns(scenario, 1);
}

// Whether cycles and flits mean the same in both.
inline bool same_units(const Scenario& a, const Scenario& b) {
  return a.cycle() == b.cycle() && a.hardware.flit == b.hardware.flit;
}

}  // namespace weft
