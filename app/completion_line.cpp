// SPDX-License-Identifier: Apache-2.0
// Completes a command line: the words that may follow, as shells ask for them.
#include <algorithm>
#include <string_view>

#include "completion.hpp"
#include "help_format.hpp"

#include <weft/base/text.hpp>

namespace weft::app {
namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

const CLI::App* find_command(const CLI::App& root, const std::string& name) {
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; }))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

// `word`: "--name", "--name=value" or "-n".
const CLI::Option* find_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : app.get_options())
    if (option->nonpositional() && option->check_name(name)) return option;
  return nullptr;
}

// Where the words before the cursor lead.
struct CursorState {
  const CLI::App* app = nullptr;
  const CLI::Option* waiting = nullptr;  // An option whose value comes next.
  std::size_t positionals = 0;
  bool in_program = false;  // Words after a program's name are its own.
  bool unknown = false;
};

// Finds the option that a word names; returns how many of the next words are its values.
std::size_t values_after(const CLI::App& app, const std::string& word, const CLI::Option*& option) {
  option = find_option(app, word);
  if (option == nullptr || !takes_value(*option) || word.find('=') != std::string::npos) return 0;
  return static_cast<std::size_t>(std::max(1, option->get_items_expected_min()));
}

CursorState find_cursor(const CLI::App& root, const std::vector<std::string>& words) {
  CursorState state;
  state.app = &root;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() > 1 && word.front() == '-') {
      const CLI::Option* option = nullptr;
      const std::size_t values = values_after(*state.app, word, option);
      if (i + values + 1 >= words.size()) {
        state.waiting = values > 0 ? option : nullptr;
        return state;
      }
      i += values;
    } else if (state.app == &root) {
      state.app = find_command(root, word);
      if (state.app == nullptr) {
        state.unknown = true;
        return state;
      }
    } else if (state.app->get_prefix_command()) {
      state.in_program = true;
      return state;
    } else {
      ++state.positionals;
    }
  }
  return state;
}

Completion offer(Offer what) {
  return {what, {}};
}

void keep_fitting(Completion& completion, const std::string& begin) {
  auto& all = completion.candidates;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const Candidate& c) { return !c.word.starts_with(begin); }),
            all.end());
}

Completion values_of(const CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  Completion completion;
  for (const std::string& choice : choices) completion.candidates.push_back({choice, ""});
  if (!choices.empty()) return completion;
  const std::string type = option.get_type_name();
  if (type.starts_with("DIR")) return offer(Offer::folders);
  // Numbers and times are no files; any other value may be one (--routing ./libmine.so:name).
  for (const char* const other : {"N", "INT", "UINT", "FLOAT", "TIME", "PERCENT", "CYCLES"})
    if (type.substr(0, type.find(':')) == other) return completion;
  return offer(Offer::files);
}

Completion options_of(const CLI::App& app) {
  Completion completion;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional() || !is_shown(*option)) continue;
    const std::string help = first_line(option->get_description());
    for (const std::string& name : option->get_lnames())
      completion.candidates.push_back({"--" + name, help});
    if (!option->get_lnames().empty()) continue;
    for (const std::string& name : option->get_snames())
      completion.candidates.push_back({"-" + name, help});
  }
  return completion;
}

Completion commands_of(const CLI::App& root) {
  Completion completion;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; }))
    completion.candidates.push_back({sub->get_name(), first_line(sub->get_description())});
  return completion;
}

Completion positional_of(const CLI::App& app, std::size_t index) {
  if (app.get_prefix_command()) return offer(Offer::files);
  std::size_t seen = 0;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !is_shown(*option)) continue;
    if (seen == index || option->get_items_expected_max() > 1) return values_of(*option);
    ++seen;
  }
  return {};
}

// bash splits "--method=fast" into three words. True if the last word is such a one, now joined.
bool join_at_equals(std::vector<std::string>& words) {
  bool last = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    last = false;
    if (words[i] != "=" || words[i - 1].find("--") != 0) continue;
    words[i - 1] += "=";
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    last = i == words.size();
    if (i < words.size()) {
      words[i - 1] += words[i];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      last = i == words.size();
    }
    --i;
  }
  return last;
}

// For "--method=fa": the values that fit, after "--method=" if the shell has it in the same word.
Completion value_in_word(const CLI::App& app, const std::string& word, bool joined) {
  const CLI::Option* const option = find_option(app, word);
  if (option == nullptr || !takes_value(*option)) return {};
  Completion completion = values_of(*option);
  const std::size_t value = word.find('=') + 1;
  keep_fitting(completion, word.substr(value));
  for (Candidate& candidate : completion.candidates)
    if (!joined) candidate.word.insert(0, word.substr(0, value));
  return completion;
}

}  // namespace

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  for (const std::string_view word :
       split(std::string_view(type).substr(begin + 1, end - begin - 1), ','))
    choices.emplace_back(trim(word));
  return choices;
}

Completion complete_line(const CLI::App& root, std::vector<std::string> words,
                         const std::vector<std::string>& topics) {
  if (words.size() < 2) return {};
  const bool joined = join_at_equals(words);
  const CursorState state = find_cursor(root, words);
  const std::string& last = words.back();
  if (state.unknown) return {};
  if (state.in_program) return offer(Offer::files);
  if (state.waiting == nullptr && last.starts_with("--") && last.find('=') != std::string::npos)
    return value_in_word(*state.app, last, joined);
  Completion completion;
  if (state.waiting != nullptr) {
    completion = values_of(*state.waiting);
  } else if (last.starts_with("-")) {
    completion = options_of(*state.app);
  } else if (state.app == &root) {
    completion = commands_of(root);
  } else if (state.app->get_name() == "help") {
    for (const std::string& topic : topics) completion.candidates.push_back({topic, ""});
  } else {
    completion = positional_of(*state.app, state.positionals);
  }
  keep_fitting(completion, last);
  return completion;
}

}  // namespace weft::app
