// SPDX-License-Identifier: Apache-2.0
// Words as one types them into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

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

// The words of a line, as a shell would take it apart: at blanks that stand neither in quotes nor
// after a backslash. Nothing else has a meaning.
inline Result<std::vector<std::string>> split_shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool open = false;  // Inside a word.
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && blank) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    // Between double quotes a backslash stands for itself unless it protects one of these.
    const bool protects = i + 1 < line.size() && (quote == '\0' || line[i + 1] == '"' ||
                                                  line[i + 1] == '\\' || line[i + 1] == '$');
    if (c == '\\' && quote != '\'' && protects) {
      words.back() += line[++i];
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return Error::input(std::string("a quote (") + quote + ") is not closed");
  return words;
}

}  // namespace weft
