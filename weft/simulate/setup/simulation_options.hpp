// SPDX-License-Identifier: Apache-2.0
// What `weft sim` was asked to do, handed to the program that it starts: the simulator runs inside
// the program's process, in the library that the program was linked with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft {

struct SimulationOptions {
  MachineWords machine;
  std::string map;                   // A file; empty: blocks in order.
  std::uint32_t ranks = 0;           // 0: one for every place.
  std::uint32_t ranks_per_node = 0;  // 0: one for each core that is described, else one.
  std::uint32_t cores_per_rank = 0;  // 0: a share of the node's, or one for every thread.
  std::string connections;           // "managed,shortcuts=4"; empty: everybody reaches everybody.

  // How to simulate.
  std::string model = "packet";  // Fidelity.
  int threads = 1;               // 0: as many as pay.
  std::string partition = "automatic";
  std::string libraries;  // The folder with weft's own.
  std::uint64_t seed = 1;
  bool carry_data = false;
  double compute_factor = 0;
  std::vector<std::string> collectives;  // "alltoall=bruck"
  Bytes stack{0};
  Time until = Time::never();
  Duration start_skew;
  std::string thread_obstacle;  // Why ranks have no threads; empty: they may.
  std::string separation;       // "", "delta", "copies", "none", "processes"
  std::string program;          // Path of the program that each rank's process runs.

  // What to tell.
  std::string out;  // A folder; empty: only the summary on the terminal.
  std::string progress_file;
  bool label = false, quiet = false, verbose = false;
  bool matrix = false;
  bool timeline = false;
  bool record_output = false;        // What the program prints, too.
  Duration series;                   // Interval; 0: none.
  bool series_paced = false;         // It follows our own time, for a page that is not kept.
  bool series_grows = false;         // It doubles when there are many samples.
  std::vector<std::string> watched;  // Routers whose buffers are recorded.
  Time watch_from, watch_until = Time::never();
  Duration watch_every = Duration::ns(10);
};

// As text, and back.
std::string to_text(const SimulationOptions& options);
Result<SimulationOptions> parse_simulation_options(const std::string& text);

// The variable that carries this text into a program.
inline constexpr const char* simulation_variable = "WEFT_SIMULATION";

}  // namespace weft
