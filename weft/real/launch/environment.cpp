// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/environment.hpp"

#include <cstdlib>

#include <unistd.h>

namespace weft::launch {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

void drop_variable(const char* name) {
  ::unsetenv(name);
}

std::vector<std::string> variables_beginning(std::string_view prefix) {
  std::vector<std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with(prefix)) found.emplace_back(*entry);
  return found;
}

}  // namespace weft::launch
