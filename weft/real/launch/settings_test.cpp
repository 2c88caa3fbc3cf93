// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/settings.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::launch {
namespace {

TEST(Settings, ComeBackAsTheyWere) {
  Settings some;
  some.rails = {"eth0", "10.64.0.0/16", "ofi:tcp:eth0", "odd,name\\"};
  some.shared_memory = false;
  some.protect = Protect::all;
  some.events = true;
  some.record = "a folder/with\nline=end";
  some.lost_after = Duration::ms(2500);
  some.collectives = {"alltoall=bruck"};
  some.messages = {"eager_limit=32 KiB"};
  some.connections = "managed,shortcuts=4";
  some.groups = "h0 1\nh1 2\n";
  some.places = "one\ntwo\n";
  const std::string text = to_text(some);
  const auto read = parse_settings(text);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_text(*read), text);
  EXPECT_EQ(read->rails, some.rails);
  EXPECT_EQ(read->record, some.record);
  EXPECT_EQ(read->lost_after, some.lost_after);
  EXPECT_EQ(read->places, some.places);
  EXPECT_EQ(read->connections, some.connections);
  EXPECT_EQ(read->groups, some.groups);
  EXPECT_FALSE(read->shared_memory);
  EXPECT_EQ(read->protect, Protect::all);
}

TEST(Settings, AreTheDefaultsWhereNothingIsSaid) {
  const auto read = parse_settings("");
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(Settings()));
  EXPECT_EQ(read->protect, Protect::on);
}

TEST(Settings, SayWhatIsWrong) {
  EXPECT_EQ(parse_settings("rail=eth0\n").error().text(),
            "unknown setting 'rail'; did you mean 'rails'?");
  EXPECT_EQ(parse_settings("events=maybe\n").error().text(),
            "setting events: 'maybe' is neither yes nor no");
  EXPECT_EQ(parse_settings("protect=no\n").error().text(),
            "setting protect: 'no' is none of on, off, all");
  EXPECT_EQ(parse_settings("events").error().text(), "setting 'events' has no '='");
  EXPECT_FALSE(parse_settings("lost_after=8\n"));
  EXPECT_FALSE(parse_settings("lost_after=0 s\n"));
}

TEST(Settings, AreReadFromVariables) {
  ::setenv("WEFT_RAILS", " eth0 , eth1", 1);
  ::setenv("WEFT_SHARED_MEMORY", "no", 1);
  auto read = settings_from_environment();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->rails, (std::vector<std::string>{"eth0", "eth1"}));
  EXPECT_FALSE(read->shared_memory);
  EXPECT_TRUE(read->single_copy);
  ::setenv("WEFT_LOST_AFTER", "soon", 1);
  read = settings_from_environment();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text().substr(0, 25), "variable WEFT_LOST_AFTER:");
  for (const char* name : {"WEFT_RAILS", "WEFT_SHARED_MEMORY", "WEFT_LOST_AFTER"}) ::unsetenv(name);
}

TEST(Settings, TakeTheFormerNameOfTheRecord) {
  ::setenv("WEFT_PROFILE", "former", 1);
  auto read = settings_from_environment();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->record, "former");
  ::setenv("WEFT_RECORD", "present", 1);
  read = settings_from_environment();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->record, "present");
  for (const char* name : {"WEFT_PROFILE", "WEFT_RECORD"}) ::unsetenv(name);
}

TEST(Settings, SurviveWhateverComes) {
  Rng rng = Rng(test_seed()).stream("settings", 0);
  const std::string good = to_text(Settings());
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (std::uint64_t change = rng.below(4); change < 4; ++change)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    if (const auto read = parse_settings(text); read) {
      const auto again = parse_settings(to_text(*read));
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(to_text(*again), to_text(*read));
    }
  }
}

}  // namespace
}  // namespace weft::launch
