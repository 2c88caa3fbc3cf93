// SPDX-License-Identifier: Apache-2.0
// A sub-command of the program: a file with one function, and its line in commands.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "help_format.hpp"
#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>

namespace weft::app {

struct Command {
  std::string name;
  std::string help;  // One line.
  // Adds the options to `parser` and returns the work to do once they are read. The kind of an
  // Error gives the exit code: call 2, input 3, run 1.
  std::function<std::function<Status()>(CLI::App& parser)> set_up;
};

// For a command that hands on everything after its own options, such as a program and its
// arguments; `what` names that in the usage line.
inline void pass_on_rest(CLI::App& parser, const std::string& what) {
  parser.prefix_command();
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("OPTIONS", "OPTIONS] " + what + " [ARGUMENTS");
  parser.formatter(std::move(formatter));
}

// The options that are added next stand under this heading in --help.
inline void begin_group(CLI::App& parser, const char* heading) {
  parser.option_defaults()->group(heading);
}

// An option that was renamed: the former name keeps working, so that scripts do, but help,
// completion and manual pages show the current name alone. Giving both is an error.
inline void keep_former_name(CLI::Option* former, CLI::Option* current) {
  former->group(former_names)->excludes(current);
}

}  // namespace weft::app
