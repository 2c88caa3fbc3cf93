// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include "help.hpp"
#include <gtest/gtest.h>

#include <weft/base/file.hpp>

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

}  // namespace
}  // namespace weft::app
