// SPDX-License-Identifier: Apache-2.0
// Tells whether every object file of an executable went through the compiler pass, and other facts
// that only the file contains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct Marks {
  std::size_t marked = 0;             // Object files with the pass's symbol.
  std::vector<std::string> unmarked;  // Source names of the others, except for the tool chain's.
  std::uint64_t data_alignment = 0;   // Largest of the writable sections; 0 if unknown.
  // Where the program's own data begins, behind tables of the loader; relative to where the program
  // lies in memory. 0 if unknown.
  std::uint64_t data_begin = 0;
  bool all() const { return marked > 0 && unmarked.empty(); }
};

// Reads the symbol table. A stripped executable has no marks and is treated as compiled without the
// pass.
Result<Marks> read_marks(const std::string& executable);

}  // namespace weft
