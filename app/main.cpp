// SPDX-License-Identifier: Apache-2.0
// The program weft. Reads the command line, runs a sub-command, and turns its result into an exit
// code and, on failure, one line on standard error. Codes: 0 done, 1 finding, 2 usage, 3 bad input,
// 70 bug in weft. When mpirun starts several processes, process 0 prints for all of them.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "unknown_option.hpp"
#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>
#include <weft/base/text.hpp>
#include <weft/base/version.hpp>
#include <weft/parallel/processes/launch.hpp>

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

// Always one line, even if a library's message has several.
int print_error(std::string text, int code) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "weft: error: %s\n", text.c_str());
  return code;
}

bool is_root_process() {
  return launched().self == 0;
}

int finish(const Status& status) {
  if (status) return 0;
  const int code = exit_code(status.error().broken());
  return is_root_process() ? print_error(status.error().text(), code) : code;
}

// Names the first word that is neither a command nor an option of weft, and the nearest one that
// is. Empty if all words are known.
std::string describe_unknown_word(const CLI::App& parser, int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0].starts_with("--")) return {};
  const CLI::App* chosen = nullptr;
  std::vector<std::string_view> names;
  for (const CLI::App* sub : parser.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    if (sub->get_name() == words[0]) chosen = sub;
  }
  if (chosen == nullptr) return "unknown command '" + words[0] + "'" + suggest(words[0], names);
  // Words of a program that the command starts are no options of weft.
  if (chosen->get_prefix_command()) return {};
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const bool known = chosen->get_option_no_throw(name) != nullptr;
    if (name.starts_with("--") && name != "--" && !known) return unknown_option(*chosen, word);
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App parser("Predict how interconnection networks carry messages", "weft");
  parser.formatter(std::make_shared<HelpFormatter>());
  parser.set_help_flag("-h,--help", "Print this help");
  parser.set_version_flag("--version", "weft " + std::string(version()), "Print the version");
  parser.require_subcommand(1);
  parser.footer(
      "'weft COMMAND --help' shows the options of a command, 'weft help' a list of topics.");
  std::vector<std::pair<CLI::App*, std::function<Status()>>> runs;
  for (const Command& command : all_commands()) {
    CLI::App* sub = parser.add_subcommand(command.name, command.help);
    sub->group("Commands");
    runs.emplace_back(sub, command.set_up(*sub));
  }
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return is_root_process() ? finish(print(parser.help())) : 0;
  } catch (const CLI::CallForVersion& e) {
    return is_root_process() ? finish(print(std::string(e.what()) + "\n")) : 0;
  } catch (const CLI::ParseError& e) {
    // Every process reads the same words, and mpirun kills all of them as soon as one fails. So
    // only process 0 fails, after it has printed the reason.
    if (!is_root_process()) return 0;
    const std::string unknown = describe_unknown_word(parser, argc, argv);
    return print_error(unknown.empty() ? e.what() : unknown, exit_usage);
  }
  for (const auto& [sub, work] : runs)
    if (sub->parsed()) return finish(work());
  return exit_bug;
}

// Names that build systems look for: a link of such a name to weft is the compiler or starts ranks.
constexpr std::array<std::array<std::string_view, 2>, 9> usual_names = {{{"mpicc", "cc"},
                                                                         {"mpicxx", "c++"},
                                                                         {"mpic++", "c++"},
                                                                         {"mpiCC", "c++"},
                                                                         {"mpifort", "fc"},
                                                                         {"mpif90", "fc"},
                                                                         {"mpif77", "fc"},
                                                                         {"mpiexec", "run"},
                                                                         {"mpirun", "run"}}};

// The sub-command that a name stands for; empty: none.
std::string sub_command_of(std::string_view name) {
  if (name.starts_with("weft-")) return std::string(name.substr(5));
  for (const auto& [usual, command] : usual_names)
    if (usual == name) return std::string(command);
  return {};
}

// weft-cc means weft cc: many build systems want the name of a compiler to be one word.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (words.empty()) words.emplace_back("weft");
  const std::string name = words[0].substr(words[0].rfind('/') + 1);
  const std::string command = sub_command_of(name);
  if (command.empty()) return words;
  words[0] = "weft";
  if (command == "run" && words.size() == 2 && words[1] == "--version") return words;
  words.insert(words.begin() + 1, command);
  // As other launchers spell it; what follows the program's name is the program's.
  if (command == "run" && !name.starts_with("weft-") && words.size() > 2 &&
      (words[2] == "-np" || words[2] == "--np"))
    words[2] = "-n";
  return words;
}

}  // namespace
}  // namespace weft::app

int main(int argc, char** argv) {
  // Writing to a closed pipe shall fail with a message and an exit code, not with a signal.
  std::signal(SIGPIPE, SIG_IGN);
  weft::app::keep_closed_streams();
  using weft::app::print_error;
  try {
    std::vector<std::string> words = weft::app::words_of(argc, argv);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return weft::app::run(static_cast<int>(words.size()), pointers.data());
  } catch (const std::bad_alloc&) {
    return print_error(
        "out of memory: use fewer threads or a smaller problem, or allow more (ulimit -v)",
        weft::app::exit_finding);
  } catch (const std::system_error& e) {
    // A resource that the system does not give; the text says which, and what to do.
    return print_error(e.what(), weft::app::exit_finding);
  } catch (const std::exception& e) {
    return print_error(std::string("internal error: ") + e.what(), weft::app::exit_bug);
  } catch (...) {
    return print_error("internal error", weft::app::exit_bug);
  }
}
