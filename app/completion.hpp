// SPDX-License-Identifier: Apache-2.0
// What may stand where the cursor is, from the parsers themselves. Shells ask by calling the
// program again, so that what they offer is what this program takes.
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
  std::vector<Candidate> candidates;  // With Offer::words; each begins as the last word does.
};

// `words`: the command line from the program's name to the cursor, as the shell cuts it (bash has
// '=' as a word of its own). `topics` are what weft help takes.
Completion complete_line(const CLI::App& root, std::vector<std::string> words,
                         const std::vector<std::string>& topics);

// Of an option with a fixed set of values; empty for others.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace weft::app
