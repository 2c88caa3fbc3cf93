// SPDX-License-Identifier: Apache-2.0
// The one program. Reads the command line, runs a sub-command, and turns whatever comes back into
// one line on standard error and an exit code: 0 done, 1 finding, 2 usage, 3 bad input, 70 our bug.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "command.hpp"
#include "commands.hpp"
#include "output.hpp"
#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>
#include <weft/base/version.hpp>

namespace weft::app {

#define WEFT_DECLARE(name) Command name##_command();
WEFT_COMMANDS(WEFT_DECLARE)
#undef WEFT_DECLARE

namespace {

constexpr int exit_finding = 1;
constexpr int exit_usage = 2;
constexpr int exit_input = 3;
constexpr int exit_bug = 70;

std::vector<Command> all_commands() {
#define WEFT_LIST(name) name##_command(),
  return {WEFT_COMMANDS(WEFT_LIST)};
#undef WEFT_LIST
}

int exit_code(Broken broken) {
  switch (broken) {
    case Broken::call:
      return exit_usage;
    case Broken::input:
      return exit_input;
    case Broken::run:
    case Broken::peer:
      return exit_finding;
  }
  return exit_bug;
}

// One line, whatever a library put into its message.
int complain(std::string text, int code) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "weft: error: %s\n", text.c_str());
  return code;
}

int finish(const Status& status) {
  return status ? 0 : complain(status.error().text(), exit_code(status.error().broken()));
}

int run(int argc, char** argv) {
  CLI::App parser("Predicts, places and runs message-passing programs on interconnection networks",
                  "weft");
  parser.set_version_flag("--version", "weft " + std::string(version()));
  parser.require_subcommand(1);
  parser.footer("'weft COMMAND --help' explains a command.");
  std::vector<std::pair<CLI::App*, std::function<Status()>>> runs;
  for (const Command& command : all_commands()) {
    CLI::App* sub = parser.add_subcommand(command.name, command.help);
    runs.emplace_back(sub, command.set_up(*sub));
  }
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return finish(print(parser.help()));
  } catch (const CLI::CallForVersion& e) {
    return finish(print(std::string(e.what()) + "\n"));
  } catch (const CLI::ParseError& e) {
    return complain(e.what(), exit_usage);
  }
  for (const auto& [sub, work] : runs)
    if (sub->parsed()) return finish(work());
  return exit_bug;
}

}  // namespace
}  // namespace weft::app

int main(int argc, char** argv) {
  // A reader that goes away is an error of writing, with a message and an exit code.
  std::signal(SIGPIPE, SIG_IGN);
  using weft::app::complain;
  try {
    return weft::app::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", weft::app::exit_finding);
  } catch (const std::exception& e) {
    return complain(std::string("internal error: ") + e.what(), weft::app::exit_bug);
  } catch (...) {
    return complain("internal error", weft::app::exit_bug);
  }
}
