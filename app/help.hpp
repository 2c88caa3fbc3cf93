// SPDX-License-Identifier: Apache-2.0
// What weft help knows: its commands, and the texts installed with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <weft/base/result.hpp>

namespace weft::app {

inline std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

struct Topic {
  std::string name;   // What the user types.
  std::string title;  // The text's first heading.
  std::string group;  // Its folder: concepts, howto, reference, decisions; empty: at the top.
  std::string path;
};

// All texts under a folder. One is called as its file, unless a command or another text is called
// so: then with its folder, as in reference/sim.
std::vector<Topic> find_topics(const std::string& folder, const std::vector<std::string>& commands);

// Commands, then texts.
std::vector<std::string> topic_names(const CLI::App& root);

struct PageStyle {
  std::size_t width = 80;
  bool bold = false;  // Headings and code, for a terminal.
};

// Markdown as our texts use it: headings, paragraphs, lists, tables, code.
std::string render_page(std::string_view markdown, const PageStyle& style);

// A page for man(1): of the whole program, or of a command.
std::string man_page(const CLI::App& root, const CLI::App* command, const std::string& date);
// weft.1, weft-sim.1, ...
Status write_man_pages(const CLI::App& root, const std::string& folder, const std::string& date);

// Through the user's pager if standard output is a terminal.
Status show_page(const std::string& text);

}  // namespace weft::app
