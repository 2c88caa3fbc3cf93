// SPDX-License-Identifier: Apache-2.0
#include "shared_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/network/part/part.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::app {

CLI::Option* add_ranks_option(CLI::App& parser, std::int64_t& ranks, const std::string& without) {
  return parser
      .add_option("-n,--ranks", ranks, fmt::format("Number of ranks (default: {})", without))
      ->type_name("N");
}

CLI::Option* add_ranks_per_node_option(CLI::App& parser, std::int64_t& ranks_per_node) {
  return parser.add_option("--ranks-per-node", ranks_per_node, "Slots for ranks on each node")
      ->type_name("N")
      ->capture_default_str();
}

CLI::Option* add_collective_option(CLI::App& parser, std::vector<std::string>& collectives) {
  return parser
      .add_option("--coll", collectives,
                  "Algorithm of a collective operation, as alltoall=bruck, or 'list'; can be "
                  "repeated (default: chosen by size)")
      ->type_name("NAME=ALGORITHM")
      ->allow_extra_args(false);
}

void add_partition_option(CLI::App& parser, std::string& partition) {
  parser
      .add_option("--partition", partition,
                  "Partition of the network among threads or processes, or 'list'; results do not "
                  "depend on it")
      ->type_name("NAME")
      ->capture_default_str();
}

namespace {

std::string rail_words() {
  std::string words;
  for (const wire::RailKindRow& row : wire::rail_kinds())
    if (!row.words.empty()) words += (words.empty() ? "" : ", ") + std::string(row.words);
  return words;
}

}  // namespace

void add_remote_options(CLI::App& parser, RemoteOptions& options) {
  parser
      .add_option("--rsh", options.rsh,
                  "Command that starts a command on a host: called as RSH HOST COMMAND, or with %h "
                  "for the host (default: ssh -o BatchMode=yes; in a Slurm job srun)")
      ->type_name("COMMAND");
  parser
      .add_option("--remote-weft", options.remote_weft,
                  "Path of weft on the other hosts (default: the same as here)")
      ->type_name("PATH");
  parser
      .add_option("--rails", options.rails,
                  "Rails to use: " + rail_words() +
                      "; separated by commas (default: interfaces that the hosts have in common)")
      ->type_name("RAILS")
      ->allow_extra_args(false);
}

void add_progress_file_option(CLI::App& parser, std::string& path) {
  parser
      .add_option("--progress-file", path,
                  "File for the progress of the run: one line of JSON, rewritten every second")
      ->type_name("FILE");
}

void add_record_output_flag(CLI::App& parser, bool& record_output) {
  parser.add_flag("--record-output", record_output,
                  "Also write program-output.txt: what the program prints, with rank and time");
}

void add_label_flag(CLI::App& parser, bool& label) {
  parser.add_flag("--label", label, "Begin each line of a rank with [rank]");
}

void add_quiet_flag(CLI::App& parser, bool& quiet, const char* what) {
  parser.add_flag("-q,--quiet", quiet, std::string("Print no ") + what);
}

void add_verbose_flag(CLI::App& parser, bool& verbose, const char* what) {
  parser.add_flag("-v,--verbose", verbose, std::string("Also print ") + what);
}

bool asks_for_list(const std::vector<std::string>& values) {
  return std::find(values.begin(), values.end(), "list") != values.end();
}

std::string partition_list() {
  const std::string cuts = list_cuts();
  std::string text = "Partitions:\n";
  for (const std::string_view line : split(cuts, '\n'))
    if (!line.empty()) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace weft::app
