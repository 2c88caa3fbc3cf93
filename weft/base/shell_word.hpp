// SPDX-License-Identifier: Apache-2.0
// A word as one types it into a shell.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// In quotes, unless it has only characters that mean nothing to a shell.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace weft
