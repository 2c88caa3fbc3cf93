// SPDX-License-Identifier: Apache-2.0
#include "help_format.hpp"

#include <algorithm>
#include <utility>

#include "completion.hpp"
#include "help.hpp"

namespace weft::app {
namespace {

constexpr std::size_t columns = 100;

// A default at the end of a text stays in one line, unless it is long.
std::string keep_default_together(std::string text) {
  constexpr std::size_t long_text = 40;
  const std::size_t at = text.rfind("(default: ");
  if (at != std::string::npos && text.size() - at <= long_text)
    std::replace(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), ' ', '\0');
  return text;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty() && option.get_group() != former_names;
}

std::string value_text(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::vector<std::string> choices = choices_of(option);
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : "|") + choice;
  if (!choices.empty()) return text;
  text = option.get_type_name();
  // The library adds ":INT in [1 - 5]" to the name of a value that must lie in a range.
  const std::size_t range = text.find(" in [");
  return range == std::string::npos ? text : text.substr(0, text.rfind(':', range));
}

// The library leaves two empty lines between groups.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  if (group == former_names) return {};
  return Formatter::make_group(std::move(group), is_positional, std::move(options));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text = value_text(*option);
  if (option->get_positional() || text.empty()) return {};
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  return " " + text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
  std::string out;
  for (const std::string& line : wrap(keep_default_together(text), columns - get_column_width()))
    out += (out.empty() ? "" : "\n") + line;
  std::replace(out.begin(), out.end(), '\0', ' ');
  return out;
}

}  // namespace weft::app
