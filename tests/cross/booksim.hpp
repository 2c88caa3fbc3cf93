// SPDX-License-Identifier: Apache-2.0
// Curves of BookSim2 (numbers only, in a folder given at run time) and the same experiment in weft.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/traffic/scenario.hpp>

namespace weft::test {

struct ReferencePoint {
  double fraction = 0;  // Of saturation.
  double offered = 0, latency = 0;
};

struct Reference {
  std::string file;
  std::string topology, routing, traffic, variant;
  int k = 0, vcs = 0, packet = 0, buffer = 0;
  bool wait_for_tail = false;
  std::int64_t warmup = 0, measure = 0;
  double zero_load = 0, saturation = 0;
  std::vector<ReferencePoint> points;  // Below saturation.

  // Whole packets move in turn there too: one VC per link, or a granted packet keeps the switch.
  bool packet_by_packet() const { return vcs == 1 || variant == "hold"; }
};

Result<Reference> read_reference(const std::string& path);
std::vector<std::string> list_references(const std::string& folder);

struct Comparison {
  double zero_load = 0;
  std::vector<double> latency;  // As Reference::points.
  double saturation = 0;
};

Result<Scenario> scenario_of(const Reference& reference, std::uint64_t seed);
Result<Comparison> compare(const Reference& reference, int seeds);

}  // namespace weft::test
