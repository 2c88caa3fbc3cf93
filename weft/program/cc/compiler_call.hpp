// SPDX-License-Identifier: Apache-2.0
// Builds the command line of a compiler that makes MPI programs for weft: everything the user
// wrote, plus what the current stage needs.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

enum class Language { c, cxx, fortran };

// Paths of the installation.
struct ToolChain {
  std::string include_dir;  // Folder of mpi.h.
  std::string library_dir;  // Folder of the libraries below.
  std::string module_dir;   // Fortran modules; may be empty.
  std::string plugin;       // The compiler pass; empty if weft was built without it.
  std::string clang_dir;    // Folder of the compilers that can load it.
  std::vector<std::string> libraries = {"mpi_abi"};
  // With which sanitizers weft itself was built ("address,undefined"); empty: none. Programs need
  // the same, and of the same compiler, since a sanitizer has to be their first library.
  std::string sanitizers;
  std::string sanitizing_compiler;
};

// Settings from the user's environment.
struct CompilerChoice {
  // WEFT_CC, WEFT_CXX or WEFT_FC; may include options; empty: the default.
  std::string command;
  std::string search_path;  // PATH
};

struct CompilerCall {
  std::vector<std::string> command;  // The command to run, unless there is an answer.
  std::string answer;                // For -show and similar: text to print instead.
  bool own_clang = false;            // Weft's choice, although the program may expect GCC.
};

// Refuses options with which no simulation could run (-static, -no-pie).
Result<CompilerCall> make_compiler_call(Language language,
                                        const std::vector<std::string>& arguments,
                                        const ToolChain& tools, const CompilerChoice& choice);

// Replaces this process by the compiler (exec); returns only on failure.
Status become(const std::vector<std::string>& command);

}  // namespace weft
