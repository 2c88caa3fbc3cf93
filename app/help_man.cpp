// SPDX-License-Identifier: Apache-2.0
// Manual pages, made from the options that the parsers have.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "help.hpp"
#include "help_format.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/base/version.hpp>

namespace weft::app {
namespace {

// Escapes a text for roff: no line becomes a request, and dashes can be copied.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : plain(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string entry_of(const CLI::Option& option) {
  std::string out = ".TP\n";
  const std::string value = value_text(option);
  if (option.get_positional() && !option.nonpositional()) {
    out += ".I " + plain(option.get_name(true)) + "\n";
  } else {
    std::string names;
    for (const std::string& name : option.get_snames()) names += "\\fB\\-" + plain(name) + "\\fR, ";
    for (const std::string& name : option.get_lnames())
      names += "\\fB\\-\\-" + plain(name) + "\\fR, ";
    names.resize(names.size() - 2);
    out += names + (value.empty() ? "" : " \\fI" + plain(value) + "\\fR") + "\n";
  }
  const std::string& help = option.get_description();
  for (const std::string_view line : split(help, '\n')) out += plain(trim(line)) + "\n";
  const std::string standard = option.get_default_str();
  if (!standard.empty()) out += "(default: " + plain(standard) + ")\n";
  return out;
}

// Lines that begin with two blanks are examples.
std::string footer_text(const std::string& footer) {
  std::string out;
  bool example = false;
  for (const std::string_view line : split(footer, '\n')) {
    const bool indented = line.starts_with("  ");
    if (indented != example) out += indented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n.PP\n";
    example = indented;
    if (!trim(line).empty()) out += plain(indented ? line.substr(2) : line) + "\n";
  }
  if (example) out += ".RE\n.fi\n";
  return out;
}

std::string options_text(const CLI::App& app) {
  std::string out;
  std::string positionals;
  for (const CLI::Option* option : app.get_options())
    if (!option->nonpositional() && is_shown(*option)) positionals += entry_of(*option);
  if (!positionals.empty()) out += ".SH ARGUMENTS\n" + positionals;
  bool first = true;
  for (const std::string& group : app.get_groups()) {
    std::string entries;
    for (const CLI::Option* option : app.get_options())
      if (option->nonpositional() && is_shown(*option) && option->get_group() == group)
        entries += entry_of(*option);
    if (entries.empty()) continue;
    if (first) out += ".SH OPTIONS\n";
    if (group != "Options") out += ".SS " + in_quotes(group) + "\n";
    first = false;
    out += entries;
  }
  return out;
}

// The usage line of --help without the name.
std::string synopsis_of(const CLI::App& app, const std::string& name) {
  const std::string help = app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal);
  const std::string mark = "Usage: " + name;
  const std::size_t begin = help.find(mark);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + mark.size();
  return std::string(trim(std::string_view(help).substr(from, help.find('\n', from) - from)));
}

std::string page_name(const CLI::App& command) {
  return "weft-" + command.get_name();
}

std::string see_also(const CLI::App& root, const CLI::App* command) {
  std::vector<std::string> pages;
  if (command != nullptr) pages.emplace_back("weft");
  for (const CLI::App* other : commands_of(root))
    if (other != command) pages.push_back(page_name(*other));
  std::string out = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < pages.size(); ++i)
    out += fmt::format(".BR {} (1){}\n", plain(pages[i]), i + 1 < pages.size() ? " ," : "");
  return out + ".PP\n\\(lqweft help\\(rq lists texts on concepts, tasks and file formats.\n";
}

}  // namespace

std::string man_page(const CLI::App& root, const CLI::App* command, const std::string& date) {
  const CLI::App& app = command == nullptr ? root : *command;
  const std::string page = command == nullptr ? "weft" : page_name(*command);
  const std::string name = command == nullptr ? "weft" : "weft " + command->get_name();
  std::string out = fmt::format(
      ".\\\" Made from the program's own options.\n.TH {} 1 {} {} {}\n", in_quotes(upper(page)),
      "\"" + date + "\"", in_quotes("weft " + std::string(version())), in_quotes("weft manual"));
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}\n", plain(page),
                     plain(app.get_description()), plain(name), plain(synopsis_of(app, name)));
  if (command == nullptr) {
    out += ".SH COMMANDS\n";
    for (const CLI::App* each : commands_of(root))
      out += fmt::format(".TP\n.BR {} (1)\n{}.\n", plain(page_name(*each)),
                         plain(each->get_description()));
  }
  out += options_text(app);
  if (!app.get_footer().empty()) out += ".SH NOTES\n" + footer_text(app.get_footer());
  if (command == nullptr)
    out +=
        ".SH EXIT STATUS\n0 done, 1 the work ended early or found a problem, 2 wrong usage,\n"
        "3 bad input, 70 a bug in weft. Commands that run a program return its exit code.\n";
  return out + see_also(root, command);
}

Status write_man_pages(const CLI::App& root, const std::string& folder, const std::string& date) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (Status s = write_file(folder + "/weft.1", man_page(root, nullptr, date)); !s) return s;
  for (const CLI::App* command : commands_of(root)) {
    const std::string path = folder + "/" + page_name(*command) + ".1";
    if (Status s = write_file(path, man_page(root, command, date)); !s) return s;
  }
  return {};
}

}  // namespace weft::app
