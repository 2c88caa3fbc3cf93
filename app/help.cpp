// SPDX-License-Identifier: Apache-2.0
// weft help: shows a command or a text, or lists them all.
#include "help.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::app {
namespace {

struct HelpOptions {
  std::string topic;
  std::string man_folder, man_date;
  bool list = false;
};

struct Group {
  const char* folder;
  const char* heading;
};
constexpr std::array<Group, 6> groups = {Group{"", "Texts"},
                                         Group{"howto", "How to"},
                                         Group{"concepts", "Concepts"},
                                         Group{"reference", "Reference"},
                                         Group{"validation", "Validation"},
                                         Group{"decisions", "Decisions"}};

std::vector<std::string> command_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(root)) names.push_back(command->get_name());
  return names;
}

std::string list_text(const CLI::App& root, const std::vector<Topic>& topics) {
  std::string out = "'weft help TOPIC' explains:\n\nCommands\n";
  std::size_t width = 0;
  for (const CLI::App* command : commands_of(root))
    width = std::max(width, command->get_name().size());
  for (const Topic& topic : topics) width = std::max(width, topic.name.size());
  for (const CLI::App* command : commands_of(root))
    out += fmt::format("  {:<{}}  {}\n", command->get_name(), width, command->get_description());
  for (const Group& group : groups) {
    std::string lines;
    for (const Topic& topic : topics)
      if (topic.group == group.folder)
        lines += fmt::format("  {:<{}}  {}\n", topic.name, width, topic.title);
    if (!lines.empty()) out += fmt::format("\n{}\n{}", group.heading, lines);
  }
  if (topics.empty()) out += fmt::format("\nThere are no texts in {}.\n", find_home().doc);
  return out;
}

PageStyle style_here() {
  PageStyle style;
  winsize window{};
  if (::isatty(STDOUT_FILENO) == 0) {
    style.width = 100;
    return style;
  }
  style.bold = true;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40)
    style.width = std::min<std::size_t>(window.ws_col, 120);
  return style;
}

// The line that leads from a command's options to its reference page.
std::string reference_line(const std::string& command, const std::vector<Topic>& topics) {
  for (const Topic& topic : topics)
    if (topic.name == "reference/" + command)
      return fmt::format("\nMore: weft help {}\n", topic.name);
  return {};
}

std::string topic_line(std::string_view name, std::string_view title) {
  return fmt::format("  weft help {:<22} {}\n", name, title);
}

// Where the answer to a word stands.
std::string word_text(const CLI::App& root, const std::vector<Topic>& topics, std::string_view name,
                      const HelpWord& word) {
  std::string out = fmt::format("{}: {}. Read on with:\n\n", name, word.means);
  for (const std::string_view wanted : split(word.topics, ',')) {
    for (const CLI::App* command : commands_of(root))
      if (command->get_name() == wanted) out += topic_line(wanted, command->get_description());
    for (const Topic& topic : topics)
      if (topic.name == wanted) out += topic_line(wanted, topic.title);
  }
  return out;
}

Error no_topic(const CLI::App& root, const std::vector<Topic>& topics, const std::string& name) {
  const std::vector<std::string> commands = command_names(root);
  std::vector<std::string_view> known(commands.begin(), commands.end());
  for (const Topic& topic : topics) known.push_back(topic.name);
  for (const HelpWord& word : help_words())
    for (const std::string_view one : split(word.names, ',')) known.push_back(one);
  std::string remedy = suggest(name, known);
  if (remedy.find("did you mean") == std::string::npos) remedy.clear();
  std::string mentioned;
  for (const Topic* topic : topics_that_mention(name, topics))
    mentioned += (mentioned.empty() ? "" : ", ") + topic->name;
  if (!mentioned.empty()) remedy += "; texts that have the word: " + mentioned;
  if (remedy.empty()) remedy = "; 'weft help' lists all";
  return Error::call(fmt::format("no topic '{}'{}", name, remedy));
}

Status show_topic(const CLI::App& root, const std::string& name) {
  const std::vector<Topic> topics = find_topics(find_home().doc, command_names(root));
  for (const CLI::App* command : commands_of(root))
    if (command->get_name() == name)
      return show_page(command->help("weft") + reference_line(name, topics));
  for (const Topic& topic : topics) {
    const bool full = topic.group + "/" + topic.name == name;
    if (topic.name != name && !full) continue;
    const auto text = read_file(topic.path);
    if (!text) return Error(text.error());
    return show_page(render_page(*text, style_here()));
  }
  if (const HelpWord* const word = find_help_word(name))
    return show_page(word_text(root, topics, name, *word));
  return no_topic(root, topics, name);
}

Status run_help(const CLI::App& root, const HelpOptions& options) {
  if (!options.man_folder.empty())
    return write_man_pages(root, options.man_folder, options.man_date);
  if (options.list) {
    std::string out;
    for (const std::string& name : topic_names(root)) out += name + "\n";
    return print(out);
  }
  if (options.topic.empty())
    return show_page(list_text(root, find_topics(find_home().doc, command_names(root))));
  return show_topic(root, options.topic);
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<HelpOptions>();
  parser
      .add_option("TOPIC", options->topic,
                  "Name of a command or a text, or a word such as slurm (default: list them all)")
      ->type_name("TOPIC");
  parser.add_flag("--list", options->list, "List the names of all topics, one per line");
  parser.add_option("--man-pages", options->man_folder)->group("");
  parser.add_option("--man-date", options->man_date)->group("");
  parser.footer(
      "On a terminal the text is shown by a pager: PAGER, or less.\n"
      "Examples:\n"
      "  weft help sim\n"
      "  weft help network-file\n"
      "  weft help concepts/deadlock\n"
      "  weft help placement");
  return [options, &parser] { return run_help(*parser.get_parent(), *options); };
}

}  // namespace

std::vector<std::string> topic_names(const CLI::App& root) {
  std::vector<std::string> names = command_names(root);
  for (const Topic& topic : find_topics(find_home().doc, names)) names.push_back(topic.name);
  return names;
}

Command help_command() {
  return {"help", "Explain a command or a topic", &set_up};
}

}  // namespace weft::app
