// SPDX-License-Identifier: Apache-2.0
// The effort of each preset of a search.
#include <fmt/format.h>

#include <weft/study/map/search.hpp>

namespace weft::map {

Result<Budget> preset_budget(std::string_view name, const Problem& problem) {
  const std::uint64_t slots = problem.slots();
  if (name == "fast") return Budget{4'000, 50 * slots, 4, true};
  if (name == "balanced") return Budget{60'000, 500 * slots, 4, true};
  if (name == "best") return Budget{600'000, 5'000 * slots, 8, true};
  return Error::call(fmt::format("'{}' is not fast, balanced or best", name));
}

}  // namespace weft::map
