// SPDX-License-Identifier: Apache-2.0
// weft map RUN: the record of a run as a problem. Its network, its traffic and its map are taken
// from the record, each unless an option says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "map_options.hpp"

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft::app {

struct MapRecord {
  std::string folder;
  std::string kind;                    // "sim" or "run".
  std::uint32_t ranks = 0;             // Of the run.
  std::vector<std::uint32_t> nodes;    // By rank: nodes of the network, or hosts of a real run;
                                       // empty: some ranks left no numbers.
  std::vector<std::string> hosts;      // Of a real run, by number.
  std::vector<std::string> warnings;   // What held what back in the run.
  std::vector<std::string> run_again;  // The command up to the program, without map and record;
  std::vector<std::string> program;    // the program and its arguments;
  std::string run_folder;              // where it was typed. Empty: not known.

  // Whether the options take the machine from the record.
  bool has_machine(const MapOptions& options) const;
};

Result<MapRecord> read_map_record(const std::string& path);

// Fills in what the options leave to the record: network, traffic, ranks, slots of nodes.
Status complete_from(const MapRecord& record, MapOptions& options);

// The node of each rank in this network. A simulated run's nodes keep their numbers. The hosts of a
// real run are found by name: among `hosts`, the names of all nodes if they were given, else among
// the network's nodes; if that has names of its own for none of them, host i is node i.
struct PresentNodes {
  std::vector<std::uint32_t> by_rank;  // Empty: not known,
  std::string reason;                  // because of this.
  std::vector<std::uint32_t> by_host;  // Of a real run.
};
PresentNodes find_present_nodes(const MapRecord& record, const Topology& topology,
                                const std::vector<std::string>& hosts);

// The command that runs the program again with a new map; empty: the record does not say.
std::string command_with_map(const MapRecord& record, const std::string& map_path);

}  // namespace weft::app
