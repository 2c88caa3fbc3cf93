// SPDX-License-Identifier: Apache-2.0
// Options of GCC that Clang refuses: builds that were written for GCC shall not stop at them.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct TakenOptions {
  std::vector<std::string> words;     // What the compiler takes.
  std::vector<std::string> left_out;  // What it does not know, and GCC does.
};

// Asks `compiler`, and `gcc` about what it refuses. Words that neither knows stay, and are the
// compiler's to complain of.
TakenOptions leave_out_gcc_options(const std::vector<std::string>& words,
                                   const std::string& compiler, const std::string& gcc);

}  // namespace weft
