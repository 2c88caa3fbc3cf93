// SPDX-License-Identifier: Apache-2.0
// Options that several commands have: written once, so that name, value and meaning are the same
// everywhere. Those that describe the machine are in machine_options.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::app {

// -n,--ranks; `without` says how many there are without the option.
CLI::Option* add_ranks_option(CLI::App& parser, std::int64_t& ranks, const std::string& without);
CLI::Option* add_ranks_per_node_option(CLI::App& parser, std::int64_t& ranks_per_node);
// --coll; with the value "list" the command prints list_algorithms() and does nothing else.
CLI::Option* add_collective_option(CLI::App& parser, std::vector<std::string>& collectives);
// --partition; with the value "list" the command prints partition_list() and does nothing else.
void add_partition_option(CLI::App& parser, std::string& partition);
// --seed of what the text names.
template <typename T>
void add_seed_option(CLI::App& parser, T& seed, const char* of_what) {
  parser.add_option("--seed", seed, std::string("Seed of ") + of_what)
      ->type_name("N")
      ->capture_default_str();
}

// --rsh, --remote-weft and --rails, for commands that start processes on other hosts.
struct RemoteOptions {
  std::string rsh, remote_weft;
  std::vector<std::string> rails;
};
void add_remote_options(CLI::App& parser, RemoteOptions& options);

void add_progress_file_option(CLI::App& parser, std::string& path);
// --record-output: the record also has what the program prints.
void add_record_output_flag(CLI::App& parser, bool& record_output);
void add_label_flag(CLI::App& parser, bool& label);
// -q,--quiet: "Print no ...".
void add_quiet_flag(CLI::App& parser, bool& quiet, const char* what);
// -v,--verbose: "Also print ...".
void add_verbose_flag(CLI::App& parser, bool& verbose, const char* what);

// Whether one of the values of an option is "list".
bool asks_for_list(const std::vector<std::string>& values);
std::string partition_list();

}  // namespace weft::app
