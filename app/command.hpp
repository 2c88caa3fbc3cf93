// SPDX-License-Identifier: Apache-2.0
// A sub-command of the program: a file with one function, and its line in commands.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>

namespace weft::app {

struct Command {
  std::string name;
  std::string help;  // One line.
  // Adds the options to `parser` and returns what to do once they are read. An Error's kind gives
  // the exit code: call 2, input 3, run 1.
  std::function<std::function<Status()>(CLI::App& parser)> set_up;
};

// For a command that takes whatever follows its options: its help says what that is.
inline void take_rest(CLI::App& parser, const std::string& what) {
  parser.prefix_command();
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->label("OPTIONS", "OPTIONS] " + what + " [ARGUMENTS");
  parser.formatter(std::move(formatter));
}

}  // namespace weft::app
