// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/conn/request.hpp>

namespace weft::conn {
namespace {

TEST(Request, SaysWhatIsWanted) {
  EXPECT_EQ(parse_request("full")->options.mode, Mode::full);
  EXPECT_EQ(parse_request("on-demand")->options.mode, Mode::on_demand);
  const auto managed = parse_request("managed,shortcuts=4,replace=random,groups=g.txt");
  ASSERT_TRUE(managed);
  EXPECT_EQ(managed->options.mode, Mode::managed);
  EXPECT_EQ(managed->options.shortcuts, 4u);
  EXPECT_EQ(managed->options.replace, Replace::random);
  EXPECT_EQ(managed->groups_file, "g.txt");
  EXPECT_EQ(*parse_request("managed,max=32,groups=auto")->most, 32u);
}

TEST(Request, NamesWhatIsWrong) {
  for (const char* const text :
       {"", "some", "full,max=3", "managed,,", "managed,max=", "managed,max=3x",
        "managed,replace=x", "managed,groups=", "managed,max=3,shortcuts=3", "managed,max=-1"}) {
    EXPECT_FALSE(parse_request(text)) << text;
  }
}

// 64 ranks on one switch, at most 32 connections each: eight groups of eight, and 18 shortcuts.
TEST(Request, KeepsToALimitOfAll) {
  Options options;
  const std::vector<std::uint32_t> one(64);
  const auto layout = lay_out(*parse_request("managed,max=32"), one, options);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->neighbours_most() + options.shortcuts, 32u);
  EXPECT_GT(options.shortcuts, 0u);
  EXPECT_FALSE(lay_out(*parse_request("managed,max=5"), one, options));
}

TEST(Groups, AreSwitchesUnlessTheseAreSmall) {
  std::vector<std::uint32_t> switches;
  for (std::uint32_t r = 0; r < 64; ++r) switches.push_back(r / 16);
  EXPECT_EQ(Layout(groups_of_switches(switches)).groups().count(), 4u);
  for (std::uint32_t r = 0; r < 64; ++r) switches[r] = r;
  EXPECT_EQ(Layout(groups_of_switches(switches)).groups().count(), 8u);
  EXPECT_EQ(Layout(groups_of_switches(switches)).neighbours_most(), 14u);
}

}  // namespace
}  // namespace weft::conn
