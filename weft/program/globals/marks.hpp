// SPDX-License-Identifier: Apache-2.0
// Whether every object file of an executable went through the compiler pass, and what else only the
// file tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct Marks {
  std::size_t marked = 0;             // Object files with the pass's symbol.
  std::vector<std::string> unmarked;  // The others' source names; not those of the tool chain.
  std::uint64_t data_alignment = 0;   // Largest of the writable sections; 0: it names none.
  bool all() const { return marked > 0 && unmarked.empty(); }
};

// From the symbol table. A stripped executable has no marks: it is treated as one without the pass.
Result<Marks> read_marks(const std::string& executable);

}  // namespace weft
