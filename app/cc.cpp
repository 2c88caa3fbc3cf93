// SPDX-License-Identifier: Apache-2.0
// weft cc, c++ and fc: compiler wrappers for the programs that weft runs.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"

#include <weft/program/cc/compiler_call.hpp>
#include <weft/program/cc/gcc_options.hpp>

namespace weft::app {
namespace {

struct Wrapper {
  const char* name;
  const char* help;
  Language language;
  const char* variable;
};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status compile(const Wrapper& wrapper, const std::vector<std::string>& arguments) {
  const Home home = find_home();
  ToolChain tools;
  tools.include_dir = home.include;
  tools.library_dir = home.lib;
  tools.module_dir = home.include;
  if (const std::string plugin = home.lib + "/weft_globals.so"; std::filesystem::exists(plugin))
    tools.plugin = plugin;
  tools.clang_dir = WEFT_CLANG_FOLDER;
  if (wrapper.language == Language::fortran) tools.libraries = {"mpi_abi_fortran", "mpi_abi"};
#ifdef WEFT_SANITIZERS
  tools.sanitizers = WEFT_SANITIZERS;
  if (wrapper.language == Language::c) tools.sanitizing_compiler = WEFT_SANITIZING_CC;
  if (wrapper.language == Language::cxx) tools.sanitizing_compiler = WEFT_SANITIZING_CXX;
#endif
  auto call = make_compiler_call(wrapper.language, arguments, tools,
                                 {environment(wrapper.variable), environment("PATH")});
  if (!call) return std::move(call).error();
  if (!call->answer.empty()) return print(call->answer);
  if (!call->own_clang) return become(call->command);
  const TakenOptions taken = leave_out_gcc_options(call->command, call->command[0], "gcc");
  for (const std::string& word : taken.left_out) {
    tell("weft {}: warning: {} is GCC's, and left out; {}={} takes it\n", wrapper.name, word,
         wrapper.variable, wrapper.language == Language::c ? "gcc" : "g++");
  }
  return become(taken.words);
}

Command wrap(const Wrapper& wrapper) {
  return {wrapper.name, wrapper.help, [wrapper](CLI::App& parser) {
            pass_on_rest(parser, "FILES");
            parser.footer(
                std::string("All arguments go to the compiler, together with the flags that "
                            "MPI programs need.\n-show prints the command instead of running "
                            "it; the variable ") +
                wrapper.variable +
                " names another compiler.\nThe result runs under 'weft sim', under 'weft run' "
                "and by itself.");
            return std::function<Status()>(
                [wrapper, &parser] { return compile(wrapper, parser.remaining()); });
          }};
}

}  // namespace

Command cc_command() {
  return wrap({"cc", "Compile and link MPI programs in C", Language::c, "WEFT_CC"});
}
Command cxx_command() {
  return wrap({"c++", "Compile and link MPI programs in C++", Language::cxx, "WEFT_CXX"});
}
Command fc_command() {
  return wrap({"fc", "Compile and link MPI programs in Fortran", Language::fortran, "WEFT_FC"});
}

}  // namespace weft::app
