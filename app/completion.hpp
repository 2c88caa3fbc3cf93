// SPDX-License-Identifier: Apache-2.0
// Command completion: which words can stand at the cursor. The answers come from the parsers, and
// shells ask by calling weft, so that they offer exactly what this program accepts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::app {

enum class Offer { words, files, folders };

struct Candidate {
  std::string word;
  std::string help;  // One line, may be empty.
};

struct Completion {
  Offer offer = Offer::words;
  std::vector<Candidate> candidates;  // For Offer::words; each begins with the last word.
};

// `words`: the command line from the program's name to the cursor, as the shell splits it (bash
// makes '=' a word of its own). `topics`: the names that weft help accepts.
Completion complete_line(const CLI::App& root, std::vector<std::string> words,
                         const std::vector<std::string>& topics);

// The values of an option that has a fixed set of them; empty for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace weft::app
