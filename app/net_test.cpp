// SPDX-License-Identifier: Apache-2.0
// The program as a user meets it: what it prints, where, and how it exits.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <weft/base/test_file.hpp>

namespace {

struct Outcome {
  int code = -1;
  std::string text;  // Both outputs, unless the command line says otherwise.
};

Outcome weft(const std::string& arguments, const std::string& redirect = "2>&1") {
  const std::string line = std::string(WEFT_PROGRAM) + " " + arguments + " " + redirect;
  Outcome outcome;
  FILE* pipe = ::popen(line.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string scratch(const std::string& name, const std::string& contents) {
  const std::string path = weft::test_file(name);
  std::ofstream(path) << contents;
  return path;
}

TEST(WeftNet, PrintsFacts) {
  const Outcome o = weft("net torus:4x4x4,p=2");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.text,
            "network            torus:4x4x4,p=2\n"
            "profile            cluster\n"
            "nodes              128\n"
            "routers            64\n"
            "cables             192\n"
            "  x                64\n"
            "  y                64\n"
            "  z                64\n"
            "cables per router  6\n"
            "nodes per router   2\n"
            "diameter           6 hops\n"
            "average distance   3.0236 hops\n"  // 3 * 128 / 127.
            "bisection          32 cables\n"
            "more               latency, capacity, cost and power: --figures\n");
}

TEST(WeftNet, ShowsTheFiguresOfOneNetwork) {
  const Outcome text = weft("net torus:4x4 --figures");
  EXPECT_EQ(text.code, 0);
  for (const char* const label : {"idle latency, mean", "capacity, uniform", "capacity, worst",
                                  "cost (example prices)", "power (example)"})
    EXPECT_NE(text.text.find(label), std::string::npos) << label << "\n" << text.text;
  const auto json = nlohmann::json::parse(weft("net torus:4x4 --figures --format json").text);
  EXPECT_EQ(json["networks"].size(), 1U);
  EXPECT_EQ(weft("net torus:4x4 --figures --links").code, 2);
}

TEST(WeftNet, KeysOfAClassHoldForNetworksThatHaveIt) {
  const std::string length = " --set link.global.length=20m --format json";
  const auto json = nlohmann::json::parse(
      weft("net torus:4x4 dragonfly:a=4,h=1,p=1" + length, "2>/dev/null").text);
  const auto& networks = json["networks"];
  for (const auto& cables : networks[1]["cables"])
    EXPECT_EQ(cables["length_m"], cables["class"] == "global" ? 20 : 5) << cables;
  EXPECT_EQ(networks[0]["warnings"].size(), 1U);
  EXPECT_TRUE(networks[1]["warnings"].empty());
  EXPECT_NE(weft("net torus:4x4 dragonfly:a=4,h=1,p=1 --set link.global.length=20m")
                .text.find("weft: warning: torus:4x4 has no cables 'global', so "
                           "'link.global.length=20m' does not hold for it\n"),
            std::string::npos);
  const Outcome none = weft("net torus:4x4 hyperx:4x4" + length);
  EXPECT_EQ(none.code, 2) << none.text;
  EXPECT_NE(none.text.find("has no cables of class 'global'"), std::string::npos) << none.text;
}

TEST(WeftNet, PrintsJson) {
  const Outcome o = weft("net fattree:k=4,levels=2 --json --links --path n0 n15");
  EXPECT_EQ(o.code, 0);
  const auto json = nlohmann::json::parse(o.text);
  EXPECT_EQ(json["nodes"], 16);
  EXPECT_EQ(json["bisection_cables"], 8);
  EXPECT_EQ(json["bisection_ground"], "exact");
  EXPECT_EQ(json["links"].size(), 16u);
  EXPECT_EQ(json["path"].size(), 2u);
}

TEST(WeftNet, ComparesNetworks) {
  const Outcome text = weft("net torus:4x4 complete:16");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.text.find("cost (example prices)"), std::string::npos) << text.text;
  const auto json = nlohmann::json::parse(weft("net torus:4x4 complete:16 --format json").text);
  EXPECT_EQ(json["networks"][1]["network"], "complete:16");
  const std::string prices =
      scratch("prices.toml", "[switch.8]\nprice = 10\n[cable.any]\nprice = 1\n");
  const Outcome csv = weft(
      "net ring:4 --set link.length=5m --set nic.length=5m --format csv "
      "--prices " +
      prices);
  EXPECT_EQ(csv.code, 0);
  EXPECT_NE(csv.text.find(",48.00,40.00,8.00,0.00,12.00,false\n"), std::string::npos) << csv.text;
}

TEST(WeftNet, ComparisonsRefuseWhatIsAboutOneNetwork) {
  EXPECT_EQ(weft("net ring:4 ring:5 --links").code, 2);
  EXPECT_EQ(weft("net ring:4 ring:5 --export dot").code, 2);
  EXPECT_EQ(weft("net ring:4 rung:5").code, 3);
  const std::string prices = scratch("bad_prices.toml", "[switch.8]\nprise = 10\n");
  const Outcome bad = weft("net ring:4 --prices " + prices);
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.text.find("bad_prices.toml:"), std::string::npos) << bad.text;
}

TEST(WeftNet, ListsKinds) {
  const Outcome o = weft("net --list");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.text.find("dragonfly:a=N,h=N[,p=N][,g=N]"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(weft("net --list --json").text));
}

TEST(WeftNet, HelpAndVersionSucceed) {
  EXPECT_EQ(weft("--help").code, 0);
  EXPECT_EQ(weft("net --help").code, 0);
  EXPECT_NE(weft("net --help").text.find("--export"), std::string::npos);
  EXPECT_EQ(weft("--version").code, 0);
  EXPECT_TRUE(weft("--version").text.starts_with("weft "));
}

TEST(WeftNet, WrongUsageIsTwoAndBadInputThree) {
  struct Case {
    std::string arguments;
    int code;
    std::string text;
  };
  const Case cases[] = {
      {"net", 2, "weft: error: which network? Give a spec or a file, or --list\n"},
      {"net ring:4 -o x", 2, "weft: error: -o needs --export\n"},
      {"net ring:4 --export dto", 2,
       "weft: error: unknown export format 'dto'; did you mean 'dot'?\n"},
      {"net ring:4 --path n0 n9", 2,
       "weft: error: no node or router 'n9' in ring:4; nodes are called 'n0', routers '(0)'\n"},
      {"net rang:4", 3, "weft: error: unknown kind of network 'rang'; did you mean 'ring'?\n"},
      {"net nothing.toml", 3, ""},
  };
  for (const Case& c : cases) {
    const Outcome o = weft(c.arguments);
    EXPECT_EQ(o.code, c.code) << c.arguments << ": " << o.text;
    EXPECT_TRUE(c.text.empty() || o.text == c.text) << o.text;
    EXPECT_TRUE(o.text.starts_with("weft: error: "));
    EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
  }
  for (const char* arguments :
       {"", "nte", "net --jsn ring:4", "net ring:4 ring:5 --links", "net --path a"}) {
    const Outcome o = weft(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_TRUE(o.text.starts_with("weft: error: ")) << o.text;
  }
}

TEST(WeftNet, AHoleInTheNetworkIsAFinding) {
  const std::string path =
      scratch("hole.graph", "weft-graph 1\nrouter a\nrouter b\nnode x a\nnode y b\n");
  const Outcome o = weft("net " + path);
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.text.find("routers            2"), std::string::npos);
  EXPECT_NE(o.text.find("weft: error: node 'y' cannot be reached from node 'x'"),
            std::string::npos);
  EXPECT_EQ(weft("net " + path + " --path x y").code, 1);
}

TEST(WeftNet, ExportsAndReadsBack) {
  const std::string file = weft::test_file("exported.graph");
  EXPECT_EQ(weft("net torus:3x3 --export graph -o " + file).code, 0);
  const Outcome o = weft("net " + file);
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.text.find("bisection          at most 8 cables"), std::string::npos) << o.text;
  EXPECT_EQ(weft("net ring:3 --export graph -o /nonexistent/file").code, 1);
}

TEST(WeftNet, LostOutputIsAnError) {
  EXPECT_EQ(weft("net ring:4", "2>&1 >/dev/full").code, 1);
  EXPECT_EQ(weft("net ring:4", "2>&1 >&-").code, 1);
  EXPECT_EQ(weft("net ring:4 --export dot -o /dev/full").code, 1);
  EXPECT_EQ(weft("--help", "2>&1 >/dev/full").code, 1);
  // The reader goes away before a megabyte is through: an error, neither a signal nor a hang.
  const std::string told = weft::test_file("told");
  weft("net torus:32x32x8 --export dot", "2>" + told + " | true");
  std::ifstream file(told);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "weft: error: cannot write to standard output: Broken pipe\n");
}

// A warning that nobody can read, or whose place another file would take, costs no result.
TEST(WeftNet, LostWarningIsNone) {
  const std::string words = "net ring:4 --set nic.inject_rate='50 GB/s' --set nic.rate='1 GB/s'";
  const std::string wanted = weft(words, "2>/dev/null").text;
  ASSERT_NE(wanted, weft(words, "2>&1").text);  // There is a warning.
  for (const char* lost : {"2>/dev/full", "2>&-"})
    EXPECT_EQ(weft(words, lost).text, wanted) << lost;
  const std::string file = weft::test_file("unmixed.graph");
  EXPECT_EQ(weft(words + " --export graph -o " + file, "2>&-").code, 0);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text.find("warning"), std::string::npos) << text;
}

// Also where the rest of the line belongs to a program.
TEST(Weft, NamesTheOptionThatMayBeMeant) {
  struct Case {
    std::string arguments;
    std::string text;
  };
  const Case cases[] = {
      {"net ring:4 --routin dor", "unknown option '--routin'; did you mean '--routing'?"},
      {"traffic --net ring:4 --routin dor", "unknown option '--routin'; did you mean '--routing'?"},
      {"map --objectiv hops", "unknown option '--objectiv'; did you mean '--objective'?"},
      {"sim --routin dor ./a", "unknown option '--routin'; did you mean '--routing'?"},
      {"sim --net ring:4 --routin=dor ./a", "unknown option '--routin'; did you mean '--routing'?"},
      {"run --host a:4 ./a", "unknown option '--host'; did you mean '--hosts'?"},
      {"sim --latency 1us ./a",
       "unknown option '--latency'; options of weft stand before the program, see weft sim --help; "
       "keys of the machine are given by --set TABLE.KEY=VALUE"},
      // An option of the program is not mistaken for one of weft.
      {"sim --threads many ./a --routin", "Could not convert: --threads = many"},
  };
  for (const Case& c : cases) {
    const Outcome o = weft(c.arguments);
    EXPECT_EQ(o.code, 2) << c.arguments;
    EXPECT_EQ(o.text, "weft: error: " + c.text + "\n") << c.arguments;
  }
  EXPECT_EQ(weft("traffic --net ring:4 --routing ugal").text,
            "weft: error: --routing: unknown routing 'ugal'; did you mean 'ugal-l'?\n");
}

TEST(WeftNet, ExamplesWork) {
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_EXAMPLES "/network")) {
    const auto kind = entry.path().extension();
    if (kind != ".toml" && kind != ".graph") continue;
    const Outcome o = weft("net " + entry.path().string());
    EXPECT_EQ(o.code, 0) << entry.path() << ": " << o.text;
    ++tried;
  }
  EXPECT_GE(tried, 3);
}

// Symbolic links beside the program, for build systems.
TEST(WeftCc, IsOneWordToo) {
  for (const std::string word : {"cc", "c++", "fc"}) {
    const Outcome two = weft(word + " -show -c a.c");
    FILE* pipe = ::popen((std::string(WEFT_PROGRAM) + "-" + word + " -show -c a.c").c_str(), "r");
    std::array<char, 4096> buffer{};
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe);
    EXPECT_EQ(::pclose(pipe), 0);
    EXPECT_EQ(std::string(buffer.data(), got), two.text);
    EXPECT_NE(two.text.find("-c a.c"), std::string::npos);
  }
}

}  // namespace
