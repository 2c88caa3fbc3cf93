// SPDX-License-Identifier: Apache-2.0
// weft completion: the scripts that shells load, and the answers to the questions they ask.
#include "completion.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "output.hpp"

namespace weft::app {
namespace {

// Each script calls "weft completion SHELL --words =WORD...", with '=' before every word so that
// none is empty or looks like an option. The answer is what complete_line() found: a line with the
// kind of offer, then a line "WORD<tab>HELP" for each candidate.
constexpr const char* bash_script = R"(# bash completion for weft
_weft() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line
  local -a lines words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
  type -P -- "$program" >/dev/null || program=weft
  COMPREPLY=()
  mapfile -t lines < <("$program" completion bash --words "${words[@]/#/=}" 2>/dev/null)
  case ${lines[0]-} in
    files) compopt -o bashdefault -o default ;;
    folders) compopt -o dirnames ;;
    words)
      for line in "${lines[@]:1}"; do COMPREPLY+=("${line%%$'\t'*}"); done ;;
  esac
}
complete -F _weft weft
)";

constexpr const char* zsh_script = R"(#compdef weft
# zsh completion for weft
_weft() {
  local -a lines found
  local line kind
  lines=("${(@f)$(${~words[1]} completion zsh --words "${(@)words[1,CURRENT]/#/=}" 2>/dev/null)}")
  kind=$lines[1]
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    words)
      for line in "${(@)lines[2,-1]}"; do
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
      done
      _describe -t weft weft found ;;
  esac
}
if [[ $funcstack[1] == _weft ]]; then
  _weft "$@"
else
  compdef _weft weft
fi
)";

constexpr const char* fish_script = R"(# fish completion for weft
function __weft_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] completion fish --words "="$words 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct) ''
    case words
      test (count $lines) -gt 1; and printf '%s\n' $lines[2..-1]
  end
end
complete -c weft -f -a '(__weft_complete)'
)";

struct CompletionOptions {
  std::string shell;
  std::vector<std::string> words;
};

std::string script_of(const std::string& shell) {
  if (shell == "zsh") return zsh_script;
  if (shell == "fish") return fish_script;
  return bash_script;
}

std::string answer_text(const Completion& completion) {
  if (completion.offer == Offer::files) return "files\n";
  if (completion.offer == Offer::folders) return "folders\n";
  std::string text = "words\n";
  for (const Candidate& candidate : completion.candidates)
    text += candidate.word + "\t" + candidate.help + "\n";
  return text;
}

Status run_completion(const CLI::App& root, const CompletionOptions& options) {
  if (options.words.empty()) return print(script_of(options.shell));
  std::vector<std::string> words;
  for (const std::string& word : options.words) words.push_back(word.substr(1));
  return print(answer_text(complete_line(root, words, topic_names(root))));
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<CompletionOptions>();
  parser.add_option("SHELL", options->shell, "Shell that reads the script: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  parser.add_option("--words", options->words)->group("");
  parser.footer(
      "The script completes commands, options and their values. Packages install it where most\n"
      "systems look for it; otherwise load it when the shell starts:\n"
      "  bash: source <(weft completion bash)                                in ~/.bashrc\n"
      "  zsh:  source <(weft completion zsh)                after compinit   in ~/.zshrc\n"
      "  fish: weft completion fish | source                in ~/.config/fish/config.fish");
  return [options, &parser] { return run_completion(*parser.get_parent(), *options); };
}

}  // namespace

Command completion_command() {
  return {"completion", "Print a script for command completion in a shell", &set_up};
}

}  // namespace weft::app
