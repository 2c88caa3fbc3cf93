// SPDX-License-Identifier: Apache-2.0
#include "weft/base/shell_word.hpp"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

namespace weft {
namespace {

// Words of every kind that a path may have.
const std::vector<std::string> words = {"plain", "with blank", "  ",        "it's",   "say \"x\"",
                                        "$HOME", "`id`",       "a\\b",      "back\\", "two\nlines",
                                        "*?[a]", "~",          "a;b|c&d>e", "!x",     "#no comment",
                                        "",      "\xc3\xa4"};

TEST(ShellWord, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("--net=torus:4x4"), "--net=torus:4x4");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("(0,0)-(1,0)"), "'(0,0)-(1,0)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(ShellWord, MeansTheSameToAShell) {
  for (const std::string& word : words) {
    const std::string line = "printf %s " + shell_word(word);
    std::FILE* const output = ::popen(line.c_str(), "re");
    ASSERT_NE(output, nullptr);
    std::array<char, 256> bytes{};
    const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), output);
    EXPECT_EQ(::pclose(output), 0);
    EXPECT_EQ(std::string(bytes.data(), size), word);
  }
}

TEST(ShellWord, IsTakenApartAgain) {
  std::string line;
  for (const std::string& word : words) line += " " + shell_word(word);
  const auto apart = split_shell_words(line);
  ASSERT_TRUE(apart);
  EXPECT_EQ(*apart, words);
}

TEST(ShellWord, OfALine) {
  const auto split = [](const char* line) { return *split_shell_words(line); };
  using Words = std::vector<std::string>;
  EXPECT_EQ(split(""), Words());
  EXPECT_EQ(split("  ssh\t-o  x=y "), (Words{"ssh", "-o", "x=y"}));
  EXPECT_EQ(split("'a b'/c\\ d \"e \\\" \\n\""), (Words{"a b/c d", "e \" \\n"}));
  EXPECT_FALSE(split_shell_words("'a"));
  EXPECT_FALSE(split_shell_words("a \"b"));
}

}  // namespace
}  // namespace weft
