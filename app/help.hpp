// SPDX-License-Identifier: Apache-2.0
// weft help: the commands, and the texts that are installed with weft as topics.
#pragma once

#include <span>
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
  std::string name;   // As the user types it.
  std::string title;  // The text's first heading.
  std::string group;  // Its folder: concepts, howto, reference, decisions; empty: at the top.
  std::string path;
};

// All texts under a folder. A topic has the name of its file; if a command or another text has the
// same name, its folder comes before it, as in reference/sim.
std::vector<Topic> find_topics(const std::string& folder, const std::vector<std::string>& commands);

// The names of commands, then those of texts.
std::vector<std::string> topic_names(const CLI::App& root);

// A word that is no topic, and the topics that answer it.
struct HelpWord {
  std::string_view names;   // Words of one meaning, with commas.
  std::string_view means;   // What the topics tell of.
  std::string_view topics;  // Names of commands and texts, with commas; the best comes first.
};
std::span<const HelpWord> help_words();
const HelpWord* find_help_word(std::string_view word);  // Null: none. Large letters are as small.

// At most four texts that have the word, those that have it most often first.
std::vector<const Topic*> topics_that_mention(std::string_view word,
                                              const std::vector<Topic>& topics);

struct PageStyle {
  std::size_t width = 80;
  bool bold = false;  // Headings and code, for a terminal.
};

// Renders the Markdown that the texts use: headings, paragraphs, lists, tables, code.
std::string render_page(std::string_view markdown, const PageStyle& style);

// Breaks a text into lines at blanks; a word that is too long stays whole.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

// A page for man(1), of a command, or of the whole program if `command` is null.
std::string man_page(const CLI::App& root, const CLI::App* command, const std::string& date);
// Writes weft.1, weft-sim.1 and so on.
Status write_man_pages(const CLI::App& root, const std::string& folder, const std::string& date);

// Prints the text, through the user's pager if standard output is a terminal.
Status show_page(const std::string& text);

}  // namespace weft::app
