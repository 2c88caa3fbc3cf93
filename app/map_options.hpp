// SPDX-License-Identifier: Apache-2.0
// The command line of weft map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "job.hpp"
#include "machine_options.hpp"

#include <weft/study/map/objective.hpp>
#include <weft/study/map/search.hpp>
#include <weft/study/step/step.hpp>

namespace weft::app {

struct MapOptions {
  std::string run;  // A record that holds what other options leave out.
  // The problem: machine, traffic and where ranks may go.
  MachineOptions machine;
  std::string traffic, traffic_format = "automatic", program;
  std::vector<std::string> forbid, fix;
  std::int64_t ranks = 0, ranks_per_node = 1;
  bool ranks_per_node_given = false;
  // The search.
  std::string objective = "paper", time, preset = "balanced", start, checkpoint, resume;
  std::optional<std::int64_t> evaluations, tries, chains;
  std::uint64_t seed = 1;
  std::int64_t threads = 0, trial_effort = 100;
  // What to do instead of a search, and the simulation of maps.
  std::string evaluate;
  std::string convert;  // A map that is only to be written in another format.
  bool compare = false;
  bool simulate = false;
  std::string model = "packet";  // Fidelity, of --simulate.
  std::string order;             // Empty: as the description has it.
  std::int64_t shrink = 1;
  bool shrink_given = false;
  // The output.
  std::string output, format = "weft", hosts, json, csv, svg, html, progress_file;
  bool quiet = false;
};

void add_map_options(CLI::App& parser, MapOptions& options);

// The options that need parsing.
struct ParsedMapOptions {
  map::Objective objective;
  double seconds = 0;
  int threads = 1;
};
// Parses the options and checks all that can be checked without the network.
Result<ParsedMapOptions> parse_map_options(const MapOptions& options, const Job& job);

// Checks the options of --convert.
Status check_conversion(const MapOptions& options);

// The requested lists ("--objective list"); empty if none is requested.
std::string requested_lists(const MapOptions& options);

}  // namespace weft::app
