// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/exchanges.hpp"

#include <gtest/gtest.h>

#include <weft/real/launch/agent_protocol.hpp>

namespace weft::launch {
namespace {

std::vector<CardPart> add(Exchanges& exchanges, std::uint32_t rank, std::uint64_t round) {
  std::vector<CardPart> got;
  for (const CardPart& part : split_card(rank, round, "card " + std::to_string(rank)))
    got = exchanges.add(part);
  return got;
}

TEST(Exchanges, GiveAllCardsToAll) {
  Exchanges exchanges(0, 3);
  EXPECT_TRUE(add(exchanges, 2, 0).empty());
  EXPECT_TRUE(add(exchanges, 0, 0).empty());
  EXPECT_TRUE(add(exchanges, 0, 1).empty());  // Ahead of the others.
  const auto all = add(exchanges, 1, 0);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].bytes, "card 2");
  EXPECT_EQ(all[2].round, 0u);
}

TEST(Exchanges, GiveUpWhereSomebodyIsGone) {
  Exchanges exchanges(0, 3);
  const auto gone = [](std::uint32_t rank) { return rank == 1; };
  EXPECT_FALSE(exchanges.give_up(gone));  // No rank waits.
  add(exchanges, 0, 0);
  EXPECT_FALSE(exchanges.give_up([](std::uint32_t) { return false; }));
  EXPECT_EQ(exchanges.give_up(gone), 1u);
  EXPECT_FALSE(exchanges.give_up(gone));
  add(exchanges, 1, 1);  // It has sent its card and then ended.
  EXPECT_FALSE(exchanges.give_up(gone));
}

TEST(Exchanges, DropWhatMakesNoSense) {
  Exchanges exchanges(0, 2);
  EXPECT_TRUE(exchanges.add({7, 0, 1, 0, "x"}).empty());
  for (std::uint64_t round = 0; round < 1000; ++round)
    EXPECT_TRUE(exchanges.add({0, round, 1, 0, "x"}).empty());
  EXPECT_EQ(add(exchanges, 1, 0).size(), 2u);
}

HostJob some_job() {
  HostJob job;
  job.ranks = 4;
  job.here = {0, 3};
  job.words = {"program", "", "a b"};
  job.environment = {"X=1"};
  job.folder = "/tmp";
  job.secret[31] = std::byte{7};
  job.settings = "rails=eth0\n";
  job.bind = "core";
  job.explain = true;
  return job;
}

TEST(HostJob, ComesBackAsItWas) {
  const auto read = parse_host_job(to_bytes(some_job()));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_bytes(*read), to_bytes(some_job()));
  EXPECT_EQ(read->here, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(read->words[2], "a b");
  EXPECT_EQ(read->secret, some_job().secret);
}

TEST(HostJob, IsRefusedWhenBroken) {
  const std::string bytes = to_bytes(some_job());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parse_host_job(bytes.substr(0, size))) << size;
  EXPECT_FALSE(parse_host_job(bytes + "x"));
  HostJob twice = some_job();
  twice.here = {1, 1};
  EXPECT_FALSE(parse_host_job(to_bytes(twice)));
  HostJob outside = some_job();
  outside.here = {4};
  EXPECT_FALSE(parse_host_job(to_bytes(outside)));
}

}  // namespace
}  // namespace weft::launch
