// SPDX-License-Identifier: Apache-2.0
#include "unknown_option.hpp"

#include <vector>

#include "help_format.hpp"
#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft::app {

std::string unknown_option(const CLI::App& command, std::string_view word,
                           std::string_view otherwise) {
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& one : option->get_lnames())
      if (is_shown(*option)) names.push_back("--" + one);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string remedy = suggest(name, known);
  const bool near = remedy.starts_with("; did you mean");
  return fmt::format("unknown option '{}'{}", name,
                     near || otherwise.empty() ? remedy : std::string(otherwise));
}

}  // namespace weft::app
