// SPDX-License-Identifier: Apache-2.0
#include "weft/program/cc/gcc_options.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>

#include <weft/base/shell_word.hpp>

namespace weft {
namespace {

using Words = std::vector<std::string>;

// What nearly every build has: no reason to ask.
constexpr std::array<std::string_view, 18> common = {
    "-fPIC",          "-fpic",           "-fPIE",
    "-fpie",          "-fopenmp",        "-ffast-math",
    "-fcommon",       "-fno-common",     "-fexceptions",
    "-fno-rtti",      "-fno-math-errno", "-fno-strict-aliasing",
    "-funroll-loops", "-fsyntax-only",   "-m64",
    "-march=native",  "-mtune=native",   "-fvisibility=hidden"};

bool is_doubtful(const std::string& word) {
  return (word.starts_with("-f") || word.starts_with("-m")) &&
         !word.starts_with("-fpass-plugin=") &&
         std::find(common.begin(), common.end(), word) == common.end();
}

// Does nothing but read its options. Its complaints.
std::string ask(const std::string& compiler, const Words& options) {
  std::string line = "LC_ALL=C " + shell_word(compiler) + " -### -x c -c /dev/null";
  for (const std::string& option : options) line += " " + shell_word(option);
  std::FILE* const said = ::popen((line + " 2>&1 >/dev/null </dev/null").c_str(), "re");
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t size = 1; said != nullptr && size > 0;) {
    size = std::fread(part.data(), 1, part.size(), said);
    text.append(part.data(), size);
  }
  if (said != nullptr) ::pclose(said);
  return text;
}

bool is_unknown(const std::string& answer, const std::string& option) {
  return answer.find("unknown argument: '" + option + "'") != std::string::npos ||
         answer.find("unrecognized command-line option '" + option + "'") != std::string::npos;
}

}  // namespace

TakenOptions leave_out_gcc_options(const Words& words, const std::string& compiler,
                                   const std::string& gcc) {
  TakenOptions taken;
  Words doubtful;
  std::copy_if(words.begin(), words.end(), std::back_inserter(doubtful), is_doubtful);
  const std::string refused = doubtful.empty() ? "" : ask(compiler, doubtful);
  Words unknown;
  for (const std::string& word : doubtful)
    if (is_unknown(refused, word)) unknown.push_back(word);
  // Without GCC nobody vouches for them.
  const std::string other = unknown.empty() ? "" : ask(gcc, unknown);
  const bool can_tell = other.find("COLLECT_GCC") != std::string::npos;
  for (const std::string& word : words) {
    const bool out =
        can_tell && is_doubtful(word) && is_unknown(refused, word) && !is_unknown(other, word);
    (out ? taken.left_out : taken.words).push_back(word);
  }
  return taken;
}

}  // namespace weft
