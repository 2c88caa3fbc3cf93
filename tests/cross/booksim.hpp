// SPDX-License-Identifier: Apache-2.0
// Curves of BookSim2 (numbers only, see tests/reference/booksim) and the same experiment in weft.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft::test {

struct ReferencePoint {
  double fraction = 0;  // Of saturation.
  double offered = 0, latency = 0;
  // What the nodes received: below saturation, the load that the few thousand packets of that run
  // really made. It is off the nominal one by up to 3 %, which near saturation is worth more in
  // latency than what is to be compared.
  double accepted = 0;
  double error = 0;  // Standard error of the latency, 0 where only one seed was run.
};

struct Reference {
  std::string file;
  std::string topology, routing, traffic, variant;
  int k = 0, vcs = 0, packet = 0, buffer = 0;
  bool wait_for_tail = false;
  std::int64_t warmup = 0, measure = 0;
  double zero_load = 0, saturation = 0;
  std::vector<ReferencePoint> points;  // Below saturation.
  // Where the rows themselves, drained or not, cross three times the zero-load latency; 0 if they
  // do not. The search behind `saturation` also counts a run as failed that the simulator gave up,
  // which it does by the age of what is still under way; with a few starved flows that happens well
  // before the mean latency is large.
  double crossing = 0;

  // Whole packets move in turn there too: one VC per link, or a granted packet keeps the switch.
  bool packet_by_packet() const { return vcs == 1 || variant == "hold"; }
};

// Of valiant on a torus the reference says that it locks up: what it names as saturation is where
// that begins.
bool locks_up(const Reference& r);
// Latency grows with load: a row of one seed that lies above the next one is scatter. There is one,
// of min_adapt, and only there it is passed over.
bool is_scatter(const Reference& r, std::size_t i);

// Where the curves are.
std::string reference_folder();
Result<Reference> read_reference(const std::string& path);
std::vector<std::string> list_references(const std::string& folder);

struct Comparison {
  double zero_load = 0, zero_load_hops = 0;
  std::vector<double> latency;           // As Reference::points, at the nominal load.
  std::vector<double> accepted_latency;  // The same at the load that was really there.
  double saturation = 0;
};

// With --model packet or flit.
Result<Scenario> scenario_of(const Reference& reference, std::uint64_t seed,
                             Fidelity model = Fidelity::packet);
Result<Comparison> compare(const Reference& reference, int seeds,
                           Fidelity model = Fidelity::packet);

// Parts of the reference's numbers by which ours may be off.
struct Bounds {
  double latency = 0;     // Up to 75 % of saturation; twice the reference's standard error on top.
  double saturation = 0;  // Of the interval between the reference's two answers.
};
// What is off by more, in words. Simulates only what it takes to know that.
Result<std::vector<std::string>> find_disagreements(const Reference& reference, Fidelity model,
                                                    const Bounds& bounds);

}  // namespace weft::test
