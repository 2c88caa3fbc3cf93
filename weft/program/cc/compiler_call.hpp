// SPDX-License-Identifier: Apache-2.0
// The command line of a compiler that makes MPI programs for weft: everything the user wrote, and
// what the stage at hand needs in addition.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

enum class Language { c, cxx, fortran };

// Where things are, from the installation.
struct ToolChain {
  std::string include_dir;  // mpi.h
  std::string library_dir;  // The libraries below.
  std::string module_dir;   // Fortran modules; may be empty.
  std::string plugin;       // The compiler pass; empty if weft was built without it.
  std::string clang_dir;    // The compilers that can load it.
  std::vector<std::string> libraries = {"mpi_abi"};
};

// What the user's environment says.
struct CompilerChoice {
  std::string command;      // WEFT_CC, WEFT_CXX or WEFT_FC: may have words; empty: the default.
  std::string search_path;  // PATH
};

struct CompilerCall {
  std::vector<std::string> command;  // To be run, if there is no answer.
  std::string answer;                // For -show and its like: text to print instead.
};

// Refuses what no simulation could run (-static, -no-pie).
Result<CompilerCall> make_compiler_call(Language language,
                                        const std::vector<std::string>& arguments,
                                        const ToolChain& tools, const CompilerChoice& choice);

// Becomes the compiler; returns only if there is none.
Status become(const std::vector<std::string>& command);

}  // namespace weft
