// SPDX-License-Identifier: Apache-2.0
// The options that say which machine is meant: the same in all commands.
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
  bool show = false;  // Print the machine and do nothing else.
};

// --net, --profile, --routing, --set and --show-machine.
void add_machine_options(CLI::App& parser, MachineOptions& options);
// The same for a command that takes the network without an option.
void add_machine_options(CLI::App& parser, MachineOptions& options, const char* network_position);

// The same words as options, for a weft that this one starts.
std::vector<std::string> words_for_weft(const MachineOptions& options);

// What was asked for instead of work: lists of words (--routing list), or the machine; nothing when
// there is work to do.
Result<std::optional<std::string>> asked_instead(const MachineOptions& options);
// The lists alone; empty when none was asked for.
std::string asked_lists(const MachineOptions& options);

}  // namespace weft::app
