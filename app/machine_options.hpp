// SPDX-License-Identifier: Apache-2.0
// The options that describe the machine, the same in all commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft::app {

struct MachineOptions {
  MachineWords words;
  bool show = false;  // Print the description and do nothing else.
};

// --net, --profile, --routing, --set and --show-machine.
void add_machine_options(CLI::App& parser, MachineOptions& options);
// The same for a command that takes the network as a positional argument.
void add_machine_options(CLI::App& parser, MachineOptions& options, const char* network_position);

// The options as arguments, for a weft that this one starts.
std::vector<std::string> to_arguments(const MachineOptions& options);

// The text to print instead of doing any work: lists (--routing list) or the machine
// (--show-machine). Nothing if neither is requested.
Result<std::optional<std::string>> requested_text(const MachineOptions& options);
// Only the lists; empty if none is requested.
std::string requested_lists(const MachineOptions& options);
// Prints what holds what back, each line once.
void warn_of(const std::vector<std::string>& warnings);

}  // namespace weft::app
