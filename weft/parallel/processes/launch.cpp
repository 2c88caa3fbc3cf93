// SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <cstdlib>
#include <limits>
#include <optional>

#include <weft/base/text.hpp>

namespace weft {
namespace {

std::optional<int> read_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const Result<std::int64_t> number = parse_int(text);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Launch launched() {
  struct Names {
    Launch::By by;
    const char* self;
    const char* count;
  };
  constexpr Names known[] = {
      {Launch::By::open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {Launch::By::mpich, "PMI_RANK", "PMI_SIZE"},
  };
  for (const Names& names : known) {
    const std::optional<int> self = read_number(names.self);
    const std::optional<int> count = read_number(names.count);
    if (self && count && *count > 1 && *self < *count) return {names.by, *self, *count};
  }
  return {};
}

}  // namespace weft
