// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "help.hpp"
#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::app {
namespace {

std::string plain(const std::string& markdown, std::size_t width = 40) {
  return render_page(markdown, {width, false});
}

TEST(HelpPage, HeadingsAreUnderlined) {
  EXPECT_EQ(plain("# One\n\n## Two `x`\ntext\n"), "One\n===\n\nTwo `x`\n-------\n\ntext\n");
}

TEST(HelpPage, ParagraphsAreWrapped) {
  EXPECT_EQ(plain("one two\nthree four five\n\nsix\n", 12), "one two\nthree four\nfive\n\nsix\n");
  EXPECT_EQ(plain("a averyveryverylongword b\n", 8), "a\naveryveryverylongword\nb\n");
}

TEST(HelpPage, CharactersCountNotBytes) {
  EXPECT_EQ(plain("µµµµ µµµµ\n", 9), "µµµµ µµµµ\n");
}

TEST(HelpPage, CodeStays) {
  EXPECT_EQ(plain("say:\n```\na   b | c\n\n# no heading\n```\nend\n", 10),
            "say:\n\n    a   b | c\n\n    # no heading\n\nend\n");
}

TEST(HelpPage, CodeByItsMargin) {
  EXPECT_EQ(plain("say:\n\n    weft net   torus:4x4\n    weft sim\n\nend\n", 10),
            "say:\n\n    weft net   torus:4x4\n    weft sim\n\nend\n");
  EXPECT_EQ(plain("- item\n    more\n", 20), "- item more\n");
}

TEST(HelpPage, ListsHang) {
  EXPECT_EQ(plain("- one two three\n  four\n- five\n\n12. six seven\n", 11),
            "- one two\n  three\n  four\n- five\n\n12. six\n    seven\n");
}

TEST(HelpPage, LinksLeadToTopics) {
  EXPECT_EQ(
      plain("see [here](../reference/map.md#x), [there](https://a.b/c) and [code](../a.cpp)\n",
            100),
      "see here (weft help map), there <https://a.b/c> and code\n");
  EXPECT_EQ(plain("![A mesh](a.svg)\n"), "(picture: A mesh)\n");
  EXPECT_EQ(plain("a[3] and [open\n"), "a[3] and [open\n");
}

TEST(HelpPage, TablesShareTheWidth) {
  EXPECT_EQ(
      plain("| key | meaning |\n| --- | --- |\n| `a|b` | one two three four |\n| c | \\| |\n", 18),
      "key    meaning\n"
      "------------------\n"
      "`a|b`  one two\n"
      "       three four\n"
      "c      |\n");
}

TEST(HelpPage, BoldIsWordByWord) {
  EXPECT_EQ(render_page("`a b` **c**\n", {3, true}),
            "\x1b[1ma\x1b[0m \x1b[1mb\x1b[0m\n\x1b[1mc\x1b[0m\n");
}

TEST(HelpPage, StrangeTextsEnd) {
  for (const char* const text :
       {"", "\n", "#", "|", "||\n|", "```", "`", "**", "[", "![a](", "- ", "1. "})
    EXPECT_LE(plain(text, 1).size(), 20U) << text;
}

TEST(HelpTopics, NamesAreUnique) {
  const std::string folder = testing::TempDir() + "weft_help_topics";
  std::filesystem::create_directories(folder + "/reference");
  std::filesystem::create_directories(folder + "/howto");
  for (const char* const name : {"README", "all", "reference/sim", "reference/map", "howto/map"})
    ASSERT_TRUE(write_file(folder + "/" + name + ".md", std::string("# T ") + name + "\ntext\n"));
  std::string found;
  for (const Topic& topic : find_topics(folder, {"sim"}))
    found += topic.name + " (" + topic.title + ")\n";
  EXPECT_EQ(found,
            "all (T all)\nhowto/map (T howto/map)\nreference/map (T reference/map)\n"
            "reference/sim (T reference/sim)\n");
  EXPECT_TRUE(find_topics(folder + "/nowhere", {}).empty());
  std::filesystem::remove_all(folder);
}

TEST(HelpWords, NamesStandOnceInSmallLetters) {
  std::set<std::string_view> seen;
  for (const HelpWord& word : help_words()) {
    EXPECT_FALSE(word.means.empty() || word.topics.empty()) << word.names;
    for (const std::string_view name : split(word.names, ',')) {
      EXPECT_TRUE(seen.insert(name).second) << name << " stands twice";
      EXPECT_EQ(find_help_word(name), &word) << name << " is not found";
    }
  }
  EXPECT_EQ(find_help_word("SLURM"), find_help_word("slurm"));
  EXPECT_EQ(find_help_word("xyzzyx"), nullptr);
}

TEST(HelpWords, TextsAreSearchedFromTheBeginningOfWords) {
  const std::string folder = testing::TempDir() + "weft_help_words";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/one.md", "# One\nA Quorum, quorums; unquorumed.\n"));
  ASSERT_TRUE(write_file(folder + "/three.md", "# Three\nquorum quorum quorum\n"));
  ASSERT_TRUE(write_file(folder + "/none.md", "# None\nsomething else\n"));
  const std::vector<Topic> topics = find_topics(folder, {});
  std::string found;
  for (const Topic* topic : topics_that_mention("quorum", topics)) found += topic->name + " ";
  EXPECT_EQ(found, "three one ");
  EXPECT_TRUE(topics_that_mention("morum", topics).empty());
  EXPECT_TRUE(topics_that_mention("q", topics).empty());  // Too short to say anything.
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft::app
