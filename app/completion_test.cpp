// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include <memory>
#include <string>
#include <vector>

#include "help.hpp"
#include "help_format.hpp"
#include <gtest/gtest.h>

namespace weft::app {
namespace {

class CompletionLine : public testing::Test {
 protected:
  CompletionLine() {
    CLI::App* const net = root.add_subcommand("net", "About networks");
    net->add_option("KIND", text, "first")->check(CLI::IsMember({"mesh", "torus"}));
    net->add_option("FILES", list, "more");
    net->add_option("--way", text, "how")->check(CLI::IsMember({"fast", "slow"}));
    net->add_option("--path", list, "two")->expected(2);
    net->add_option("-n,--number", number, "a number");
    net->add_option("--folder", text)->type_name("DIR");
    net->add_option("-x", text, "short");
    net->add_flag("--json", json, "JSON");
    net->add_flag("--secret")->group("");
    net->add_flag("--secret-too")->group(former_names);
    CLI::App* const run = root.add_subcommand("run", "Run");
    run->prefix_command();
    run->add_option("-n", number);
    root.add_subcommand("help", "Help");
  }

  // "words: a b", "files", "folders"
  std::string at(std::vector<std::string> words) {
    words.insert(words.begin(), "weft");
    const Completion found = complete_line(root, words, {"net", "deadlock"});
    if (found.offer == Offer::files) return "files";
    if (found.offer == Offer::folders) return "folders";
    std::string words_text = "words:";
    for (const Candidate& candidate : found.candidates) words_text += " " + candidate.word;
    return words_text;
  }

  CLI::App root{"Test", "weft"};
  std::string text;
  std::vector<std::string> list;
  int number = 0;
  bool json = false;
};

TEST_F(CompletionLine, Commands) {
  EXPECT_EQ(at({""}), "words: net run help");
  EXPECT_EQ(at({"n"}), "words: net");
  EXPECT_EQ(at({"-"}), "words: --help");
  EXPECT_EQ(at({"unknown", ""}), "words:");
}

TEST_F(CompletionLine, Options) {
  EXPECT_EQ(at({"net", "-"}), "words: --help --way --path --number --folder -x --json");
  EXPECT_EQ(at({"net", "--js"}), "words: --json");
  EXPECT_EQ(at({"net", "--json", "--w"}), "words: --way");
  EXPECT_EQ(at({"net", "--sec"}), "words:");
}

TEST_F(CompletionLine, Values) {
  EXPECT_EQ(at({"net", "--way", ""}), "words: fast slow");
  EXPECT_EQ(at({"net", "--way", "f"}), "words: fast");
  EXPECT_EQ(at({"net", "--number", ""}), "words:");
  EXPECT_EQ(at({"net", "-n", ""}), "words:");
  EXPECT_EQ(at({"net", "--folder", ""}), "folders");
  EXPECT_EQ(at({"net", "--path", "a", ""}), "files");
  EXPECT_EQ(at({"net", "--path", "a", "b", ""}), "words: mesh torus");
}

TEST_F(CompletionLine, ValuesAfterEquals) {
  EXPECT_EQ(at({"net", "--way=f"}), "words: --way=fast");
  EXPECT_EQ(at({"net", "--way=fast", "--j"}), "words: --json");
  EXPECT_EQ(at({"net", "--json="}), "words:");
  // bash: three words, of which it replaces the last.
  EXPECT_EQ(at({"net", "--way", "=", "f"}), "words: fast");
  EXPECT_EQ(at({"net", "--way", "="}), "words: fast slow");
  EXPECT_EQ(at({"net", "--way", "=", "fast", "--j"}), "words: --json");
  EXPECT_EQ(at({"net", "--folder", "=", "f"}), "folders");
}

TEST_F(CompletionLine, Positionals) {
  EXPECT_EQ(at({"net", ""}), "words: mesh torus");
  EXPECT_EQ(at({"net", "--json", "m"}), "words: mesh");
  EXPECT_EQ(at({"net", "mesh", ""}), "files");
  EXPECT_EQ(at({"net", "mesh", "a", "b", ""}), "files");
  EXPECT_EQ(at({"help", "d"}), "words: deadlock");
}

TEST_F(CompletionLine, WordsAfterAProgramAreItsOwn) {
  EXPECT_EQ(at({"run", "-n", "2", "./pro"}), "files");
  EXPECT_EQ(at({"run", "-n", "2", "./program", "--he"}), "files");
}

TEST_F(CompletionLine, EmptyLines) {
  EXPECT_TRUE(complete_line(root, {}, {}).candidates.empty());
  EXPECT_TRUE(complete_line(root, {"weft"}, {}).candidates.empty());
  EXPECT_EQ(at({"="}), "words:");
}

TEST_F(CompletionLine, HelpIsWrapped) {
  CLI::App* const net = root.get_subcommand("net");
  net->get_option("--way")->description(
      "How to go from one place to another, in so many words that no screen has room for all of "
      "them in one line");
  net->get_option("--way")->default_str("fast");
  net->formatter(std::make_shared<HelpFormatter>());
  const std::string page = net->help("weft");
  EXPECT_NE(
      page.find("\n  --way fast|slow             How to go from one place to another, in so "
                "many words that no screen\n"
                "                              has room for all of them in one line (default: "
                "fast)\n"),
      std::string::npos)
      << page;
  EXPECT_NE(page.find("\n  --json                      JSON\n"), std::string::npos) << page;
  EXPECT_EQ(page.find("\n\n\n"), std::string::npos);
  EXPECT_EQ(page.find("secret"), std::string::npos);
}

TEST_F(CompletionLine, ManualPage) {
  const CLI::App* const net = root.get_subcommand("net");
  const std::string page = man_page(root, net, "2026-01-02");
  EXPECT_NE(page.find(".TH \"WEFT\\-NET\" 1 \"2026-01-02\""), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-\\-way\\fR \\fIfast|slow\\fR\nhow\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIINT\\fR\n"), std::string::npos)
      << page;
  EXPECT_EQ(page.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace weft::app
