// SPDX-License-Identifier: Apache-2.0
#include "weft/base/config.hpp"

#include <array>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr std::string_view network = R"(# A network.
name = "small"
[router]
vcs = 4
delay = "140 ns"
buffer = "4 KiB"
adaptive = true
load = 0.5
radix = [4, 4]
[link]
rate = "8 GB/s"
[link.global]
rate = "4 GB/s"
[link.local]
rate = "16 GB/s"
)";

Config read(std::string_view text) {
  auto config = Config::read_text(text, "net.toml");
  EXPECT_TRUE(config) << config.error().text();
  return *config;
}

// Reads the int key `vcs` in [router] from the text and returns the error.
template <typename T>
std::string failure(std::string_view text, T out) {
  auto table = read(text).table("router");
  table.get("vcs", out);
  const Status status = table.finish();
  return status ? "" : status.error().text();
}

TEST(Config, GivesValuesOfEveryType) {
  const Config config = read(network);
  ConfigTable router = config.table("router");
  int vcs = 0;
  Duration delay;
  Bytes buffer;
  bool adaptive = false;
  double load = 0;
  std::vector<int> radix;
  router.get("vcs", vcs, 1, 32);
  router.get("delay", delay);
  router.get("buffer", buffer);
  router.get("adaptive", adaptive);
  router.get("load", load);
  router.get("radix", radix);
  EXPECT_TRUE(router.finish());
  EXPECT_EQ(vcs, 4);
  EXPECT_EQ(delay, Duration::ns(140));
  EXPECT_EQ(buffer, Bytes{4096});
  EXPECT_TRUE(adaptive);
  EXPECT_EQ(load, 0.5);
  EXPECT_EQ(radix, (std::vector<int>{4, 4}));

  ConfigTable top = config.table("");
  std::string name;
  top.get("name", name);
  EXPECT_TRUE(top.finish());
  EXPECT_EQ(name, "small");
}

TEST(Config, LeavesTheDefaultWhenAbsent) {
  ConfigTable table = read(network).table("nic");
  int count = 7;
  std::vector<std::string> names = {"a"};
  table.get("count", count);
  table.get("names", names);
  EXPECT_TRUE(table.finish());
  EXPECT_EQ(count, 7);
  EXPECT_EQ(names, (std::vector<std::string>{"a"}));
  EXPECT_FALSE(table.has("count"));
}

TEST(Config, ReadsNestedTables) {
  const Config config = read(network);
  EXPECT_EQ(config.subtables("link"), (std::vector<std::string>{"global", "local"}));
  EXPECT_TRUE(config.has_table("link.global"));
  EXPECT_FALSE(config.has_table("link.rate"));
  EXPECT_FALSE(config.has_table("link.nowhere"));
  Rate rate;
  ConfigTable global = config.table("link.global");
  global.get("rate", rate);
  EXPECT_TRUE(global.finish());
  EXPECT_EQ(rate, Rate::gbyte_per_s(4));
  ConfigTable link = config.table("link");
  link.get("rate", rate);
  EXPECT_TRUE(link.finish());
}

TEST(Config, NamesTheNearestKey) {
  EXPECT_EQ(failure("[router]\n\nvsc = 4\n", 0),
            "net.toml:3: unknown key 'vsc' in [router]; did you mean 'vcs'?");
}

TEST(Config, ReportsTheUnknownKeyThatStandsFirst) {
  EXPECT_EQ(failure("[router]\nzeta = 4\nalpha = 1\n", 0),
            "net.toml:2: unknown key 'zeta' in [router]; known: vcs");
}

TEST(Config, SaysWhichTypeIsWanted) {
  EXPECT_EQ(failure("[router]\nvcs = 'four'", 0),
            "net.toml:2: 'vcs' in [router] must be a whole number, not text");
  EXPECT_EQ(failure("[router]\nvcs = 4.0", std::int64_t{0}),
            "net.toml:2: 'vcs' in [router] must be a whole number, not a number with a fraction");
  EXPECT_EQ(failure("[router]\nvcs = 4", std::string()),
            "net.toml:2: 'vcs' in [router] must be text in quotes, not a whole number");
  EXPECT_EQ(failure("[router]\nvcs = 1", false),
            "net.toml:2: 'vcs' in [router] must be true or false, not a whole number");
  EXPECT_EQ(failure("[router]\nvcs = nan", 0.0), "net.toml:2: 'vcs' in [router] must be finite");
  EXPECT_EQ(failure("[router]\nvcs = [1, 'a']", std::vector<int>()),
            "net.toml:2: 'vcs' in [router] must be a list of whole numbers, but contains text");
  EXPECT_EQ(failure("[router]\nvcs = 1", std::vector<std::string>()),
            "net.toml:2: 'vcs' in [router] must be a list of texts, not a whole number");
  EXPECT_EQ(failure("[router]\nvcs = 2000000000000", 0),
            "net.toml:2: 'vcs' in [router] must be from -2147483648 to 2147483647, not "
            "2000000000000");
}

TEST(Config, WantsUnits) {
  EXPECT_EQ(failure("[router]\nvcs = 140", Duration()),
            "net.toml:2: 'vcs' in [router]: '140' needs a unit, e.g. '140 ns'");
  EXPECT_EQ(failure("[router]\nvcs = '140 B'", Duration()),
            "net.toml:2: 'vcs' in [router]: '140 B' is a size; a duration is needed, e.g. '140 "
            "ns'");
  EXPECT_EQ(failure("[router]\nvcs = 1.5", Bytes()),
            "net.toml:2: 'vcs' in [router]: '1.5' needs a unit, e.g. '256 B'");
  EXPECT_EQ(failure("[router]\nvcs = true", Rate()),
            "net.toml:2: 'vcs' in [router] must be a rate such as '8 GB/s', not true or false");
}

TEST(Config, ChecksRanges) {
  ConfigTable router = read("[router]\nvcs = 40\n").table("router");
  int vcs = 2;
  router.get("vcs", vcs, 1, 32);
  EXPECT_EQ(router.finish().error().text(),
            "net.toml:2: 'vcs' in [router] must be from 1 to 32, not 40");
  EXPECT_EQ(vcs, 2);
}

TEST(Config, KeepsTheFirstError) {
  ConfigTable router = read("[router]\na = 'x'\nb = 'y'\n").table("router");
  int a = 1;
  int b = 2;
  router.get("b", b);
  router.get("a", a);
  EXPECT_EQ(router.finish().error().line(), 3);
  EXPECT_EQ(a + b, 3);
}

TEST(Config, LetsTwoReadersShareATable) {
  const Config config = read("[router]\na = 1\nb = 2\n");
  int a = 0;
  int b = 0;
  ConfigTable first = config.table("router");
  ConfigTable second = config.table("router");
  first.get("a", a);
  second.get("b", b);
  EXPECT_TRUE(first.finish());
  EXPECT_TRUE(second.finish());
}

TEST(Config, PlacesTheCallersOwnErrors) {
  const ConfigTable router = read("\n[router]\nvcs = 3\n").table("router");
  EXPECT_EQ(router.error_at("vcs", "must be even").text(), "net.toml:3: must be even");
  EXPECT_EQ(router.error_at("delay", "is needed").text(), "net.toml:2: is needed");
}

TEST(Config, KnowsItsTables) {
  const Config config = read(network);
  constexpr std::array<std::string_view, 4> all = {"", "router", "link", "link.*"};
  EXPECT_TRUE(config.only_tables(all));
  constexpr std::array<std::string_view, 4> listed = {"router", "link", "link.global",
                                                      "link.local"};
  EXPECT_EQ(config.only_tables(listed).error().text(),
            "net.toml:2: unknown key 'name' outside all tables");
  constexpr std::array<std::string_view, 3> flat = {"", "router", "link"};
  EXPECT_EQ(config.only_tables(flat).error().text(),
            "net.toml:12: unknown table [link.global]; known: router, link");
  constexpr std::array<std::string_view, 2> near = {"router", "nics"};
  EXPECT_EQ(read("[nic]\na = 1\n").only_tables(near).error().text(),
            "net.toml:1: unknown table [nic]; did you mean 'nics'?");
  constexpr std::array<std::string_view, 1> inner = {"link.global"};
  EXPECT_TRUE(read("[link.global]\na = 1\n").only_tables(inner));
  EXPECT_EQ(read("[link]\nb = 1\n[link.global]\na = 1\n").only_tables(inner).error().text(),
            "net.toml:2: unknown key 'b' in [link]");
}

TEST(Config, RefusesAKeyWhereATableIsNeeded) {
  ConfigTable router = read("router = 4\n").table("router");
  EXPECT_EQ(router.finish().error().text(),
            "net.toml:1: 'router' must be a table, not a whole number");
}

TEST(Config, PlacesMalformedToml) {
  const auto config = Config::read_text("[router]\nvcs = \n", "net.toml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().broken(), Broken::input);
  EXPECT_EQ(config.error().file(), "net.toml");
  EXPECT_EQ(config.error().line(), 2);
  EXPECT_EQ(config.error().text().find('\n'), std::string::npos);
  EXPECT_FALSE(Config::read_text("a = 1\na = 2\n", "net.toml"));
  EXPECT_FALSE(Config::read_text("\xff\xfe", "net.toml"));
}

TEST(Config, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(Config::read_file("/nowhere/net.toml").error().text(),
            "cannot read '/nowhere/net.toml': No such file or directory");
}

TEST(Overrides, ReplaceAndAdd) {
  const auto config = read(network).with_overrides(
      {"router.vcs=8", "link.rate='2 GB/s'", "link.global.rate = 1 GB/s", "nic.count=2"});
  ASSERT_TRUE(config) << config.error().text();
  int vcs = 0;
  int count = 0;
  Rate rate;
  Rate global;
  config->table("router").get("vcs", vcs);
  config->table("nic").get("count", count);
  config->table("link").get("rate", rate);
  config->table("link.global").get("rate", global);
  EXPECT_EQ(vcs, 8);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(rate, Rate::gbyte_per_s(2));
  EXPECT_EQ(global, Rate::gbyte_per_s(1));
  // The original is unchanged, and errors still name lines.
  read(network).table("router").get("vcs", vcs);
  EXPECT_EQ(vcs, 4);
  EXPECT_EQ(config->table("router").error_at("delay", "x").line(), 5);
}

TEST(Overrides, PileUp) {
  const auto once = read(network).with_overrides({"router.vcs=8"});
  const auto twice = once->with_overrides({"router.load=1"});
  int vcs = 0;
  double load = 0;
  twice->table("router").get("vcs", vcs);
  twice->table("router").get("load", load);
  EXPECT_EQ(vcs, 8);
  EXPECT_EQ(load, 1);
}

TEST(Overrides, AppendToLists) {
  const auto once = read("[network]\ndown = [\"a-b\"]\n")
                        .with_overrides({"network.down+=(0,0)-(1,0)", "network.down += random:3"});
  ASSERT_TRUE(once) << once.error().text();
  const auto again = once->with_overrides({"network.down+=c-d"});
  ASSERT_TRUE(again) << again.error().text();
  std::vector<std::string> down;
  again->table("network").get("down", down);
  EXPECT_EQ(down, (std::vector<std::string>{"a-b", "(0,0)-(1,0)", "random:3", "c-d"}));
  EXPECT_EQ(again->table("network").error_at("down", "x").text(), "option 'network.down+=c-d': x");
  EXPECT_EQ(read(network).with_overrides({"router.vcs+=1"}).error().text(),
            "option 'router.vcs+=1': 'vcs' is not a list");
}

TEST(Overrides, NameCablesByTheirEnds) {
  const auto config = read(network).with_overrides(
      {"link((0,0),(1,0)).rate=1 GB/s", "link(g0.r1,g1.r0).rate=2 GB/s", "link(a, b).rate=3 GB/s"});
  ASSERT_TRUE(config) << config.error().text();
  constexpr std::array<std::string_view, 6> known = {"",    "router", "network",
                                                     "nic", "link",   "link.*"};
  EXPECT_TRUE(config->only_tables(known)) << config->only_tables(known).error().text();
  int gbytes = 0;
  for (const char* const name : {"(0,0)-(1,0)", "g0.r1-g1.r0", "a-b"}) {
    Rate rate;
    ConfigTable table = config->table(Config::path("link", name));
    table.get("rate", rate);
    EXPECT_EQ(rate, Rate::gbyte_per_s(++gbytes)) << name;
    EXPECT_TRUE(table.finish());
  }
  EXPECT_EQ(Config::path("link", "g0.r1-g1.r0"), "link.\"g0.r1-g1.r0\"");
  EXPECT_EQ(Config::path("link", "global"), "link.global");
  for (const std::string bad : {"link(a).rate=1", "link(a,b)=1", "link(a,.rate=1", "link(,b=1"})
    EXPECT_EQ(read(network).with_overrides({bad}).error().text(),
              "option '" + bad + "' must look like table.key=value");
}

TEST(Overrides, AreNamedInErrors) {
  const auto config = read(network).with_overrides({"router.vcs=99", "router.vsc=1"});
  ASSERT_TRUE(config);
  ConfigTable router = config->table("router");
  int vcs = 1;
  router.get("vcs", vcs, 1, 32);
  const Status status = router.finish();
  EXPECT_EQ(status.error().text(),
            "option 'router.vcs=99': 'vcs' in [router] must be from 1 to 32, not 99");
  EXPECT_EQ(status.error().broken(), Broken::call);

  ConfigTable again = read("[router]\nvcs = 1\n").with_overrides({"router.vsc=1"})->table("router");
  again.get("vcs", vcs);
  EXPECT_EQ(again.finish().error().text(),
            "option 'router.vsc=1': unknown key 'vsc' in [router]; did you mean 'vcs'?");
}

TEST(Overrides, AreNamedWhenTheyMakeAnUnknownTable) {
  constexpr std::array<std::string_view, 4> known = {"", "router", "link", "link.*"};
  EXPECT_EQ(read(network).with_overrides({"ruoter.vcs=1"})->only_tables(known).error().text(),
            "option 'ruoter.vcs=1': unknown table [ruoter]; did you mean 'router'?");
}

TEST(Overrides, MustBeWellFormed) {
  const Config config = read(network);
  for (const std::string bad :
       {"router.vcs", "=4", "router..vcs=4", "router.vcs=", "a b.c=1", "router.vcs=4\nx=1"})
    EXPECT_EQ(config.with_overrides({bad}).error().text(),
              "option '" + bad + "' must look like table.key=value");
  EXPECT_EQ(config.with_overrides({"router.vcs.x=4"}).error().text(),
            "option 'router.vcs.x=4': 'router.vcs' is a key, not a table");
  EXPECT_FALSE(config.with_overrides({"router.radix=[1,"}));
}

}  // namespace
}  // namespace weft
