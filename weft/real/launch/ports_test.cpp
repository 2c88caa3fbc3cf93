// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/ports.hpp"

#include <gtest/gtest.h>

namespace weft::launch {
namespace {

TEST(Ports, HaveNamesOfTheirJob) {
  Ports ports("job");
  const std::string first = ports.open(0), second = ports.open(0);
  EXPECT_EQ(first, "job:1");
  EXPECT_NE(first, second);
  EXPECT_TRUE(ports.is_open(first));
  EXPECT_FALSE(ports.is_open("job:3"));
  EXPECT_TRUE(ports.close(first).empty());
  EXPECT_FALSE(ports.is_open(first));
  EXPECT_TRUE(ports.is_open(second));
}

TEST(Ports, BringTogetherInTheOrderOfComing) {
  Ports ports("job");
  const std::string port = ports.open(0);
  EXPECT_FALSE(ports.visit(port, false, {5, 50}));
  EXPECT_FALSE(ports.visit(port, false, {6, 60}));
  auto couple = ports.visit(port, true, {0, 1});
  ASSERT_TRUE(couple);
  EXPECT_EQ(couple->accepts.rank, 0U);
  EXPECT_EQ(couple->connects.rank, 5U);
  EXPECT_EQ(couple->connects.request, 50U);
  couple = ports.visit(port, true, {0, 2});
  ASSERT_TRUE(couple);
  EXPECT_EQ(couple->connects.rank, 6U);
  EXPECT_FALSE(ports.visit(port, true, {0, 3}));
  couple = ports.visit(port, false, {7, 70});
  ASSERT_TRUE(couple);
  EXPECT_EQ(couple->accepts.request, 3U);
}

TEST(Ports, EndWithTheirOwner) {
  Ports ports("job");
  const std::string port = ports.open(4), other = ports.open(5);
  EXPECT_FALSE(ports.visit(port, false, {1, 10}));
  EXPECT_FALSE(ports.visit(other, false, {4, 40}));
  EXPECT_TRUE(ports.publish(4, "name", port));
  const auto refused = ports.forget(4);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].rank, 1U);
  EXPECT_FALSE(ports.is_open(port));
  EXPECT_FALSE(ports.look_up("name"));
  EXPECT_FALSE(ports.visit(other, true, {5, 50}));  // The visitor has gone.
}

TEST(Ports, AreFoundByName) {
  Ports ports("job");
  EXPECT_TRUE(ports.publish(0, "name", "port"));
  EXPECT_FALSE(ports.publish(1, "name", "other"));
  EXPECT_EQ(ports.look_up("name"), "port");
  EXPECT_TRUE(ports.unpublish("name"));
  EXPECT_FALSE(ports.unpublish("name"));
  EXPECT_FALSE(ports.look_up("name"));
}

TEST(Requests, KeepWhatTheySay) {
  StartRequest request;
  request.commands.push_back({{"program", "word"}, 3, "/folder", "host", "a:b"});
  request.commands.push_back({{"other"}, 1, "", "", ""});
  const std::string bytes = to_bytes(request);
  FieldReader in(bytes);
  const auto read = parse_start_request(in);
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->commands.size(), 2U);
  EXPECT_EQ(read->commands[0].words, request.commands[0].words);
  EXPECT_EQ(read->commands[0].count, 3U);
  EXPECT_EQ(read->commands[0].path, "a:b");
  EXPECT_EQ(read->commands[1].words[0], "other");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FieldReader part(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(parse_start_request(part)) << size;
  }
}

TEST(Requests, ArriveInParts) {
  Mail mail;
  const std::string text(3 * card_part_max / 2, 'x');
  const std::vector<CardPart> parts = split_card(1, 9, text);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_FALSE(mail.add(parts[0]));
  EXPECT_EQ(mail.add({2, 9, 0, 0, ""}), "");  // Of another rank.
  EXPECT_EQ(mail.add(parts[1]), text);
  EXPECT_FALSE(mail.add(parts[1]));  // Its first part is missing.
  EXPECT_FALSE(mail.add({1, 3, 2, 0, "xxx"}));
}

}  // namespace
}  // namespace weft::launch
