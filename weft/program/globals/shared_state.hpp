// SPDX-License-Identifier: Apache-2.0
// Shared libraries of a program whose variables are not copied: ranks that live in one process
// share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct LibraryState {
  std::string path;
  std::uint64_t bytes = 0;  // Of variables.
};

// Variables of a library's file, less what every library has; 0 if there are none, or if the file
// does not say.
std::uint64_t state_of_library(const std::string& path);

// Libraries that the program needs, itself or by others of them, and that have variables. Without
// those of languages and of weft.
std::vector<LibraryState> libraries_with_state();

}  // namespace weft
