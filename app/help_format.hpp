// SPDX-License-Identifier: Apache-2.0
// The layout of --help: options under headings, texts wrapped at 100 columns, choices as "a|b", and
// defaults in brackets after the text.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::app {

// The group of former names of options, which work but are shown nowhere.
constexpr const char* former_names = "Former names";
bool is_shown(const CLI::Option& option);

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

// What stands after the name of an option: its choices, or the name of its value. Empty for a flag.
std::string value_text(const CLI::Option& option);

}  // namespace weft::app
