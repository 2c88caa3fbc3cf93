// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/coll/choose.hpp>

namespace weft::coll {
namespace {

TEST(Choose, ForcesWhatTheUserSays) {
  Choices choices;
  ASSERT_TRUE(choices.force("alltoall=bruck, bcast=pipeline"));
  EXPECT_EQ(choose({Operation::alltoall, 64, 1 << 20}, &choices), Algorithm::bruck);
  EXPECT_EQ(choose({Operation::bcast, 64, 1}, &choices), Algorithm::pipeline);
  ASSERT_TRUE(choices.force("alltoall=automatic"));
  EXPECT_EQ(choose({Operation::alltoall, 64, 1 << 20}, &choices), Algorithm::pairwise);
}

TEST(Choose, NamesTheNearestWordOrAllKnownOnes) {
  Choices choices;
  EXPECT_EQ(choices.force("alltoal=bruck").error().text(),
            "unknown collective operation 'alltoal'; did you mean 'alltoall'?");
  EXPECT_EQ(choices.force("alltoall=bruk").error().text(),
            "unknown algorithm 'bruk' for alltoall; did you mean 'bruck'?");
  EXPECT_EQ(
      choices.force("barrier=xyzxyz").error().text(),
      "unknown algorithm 'xyzxyz' for barrier; known: automatic, dissemination, tree, linear");
  EXPECT_EQ(choices.force("bruck").error().text(),
            "'bruck' is not OPERATION=ALGORITHM, as in alltoall=bruck");
  EXPECT_EQ(choices.force("bcast=ring").error().broken(), Broken::call);
}

TEST(Choose, GivesWayWhereAnAlgorithmIsNotAble) {
  Choices choices;
  ASSERT_TRUE(choices.force("allreduce=ring,bcast=bucket"));
  EXPECT_EQ(choose({Operation::allreduce, 8, 800, 100, true}, &choices), Algorithm::ring);
  EXPECT_NE(choose({Operation::allreduce, 8, 800, 100, false}, &choices), Algorithm::ring);
  EXPECT_NE(choose({Operation::allreduce, 8, 8, 1, true}, &choices), Algorithm::ring);
  EXPECT_NE(choose({Operation::bcast, 8, 8}, &choices), Algorithm::bucket);
  EXPECT_EQ(choose({Operation::bcast, 8, 8, 0, true, true}, &choices), Algorithm::bucket);
}

TEST(Choose, EveryCaseHasAnAlgorithmOfItsOperation) {
  for (std::size_t i = 0; i < operation_count; ++i) {
    for (const int ranks : {1, 2, 100, 65536}) {
      for (const std::size_t bytes : {0UL, 100UL, 10000UL, 1UL << 30}) {
        for (const bool commutes : {true, false}) {
          for (const bool grid : {true, false}) {
            const auto operation = static_cast<Operation>(i);
            const Case given{operation, ranks, bytes, static_cast<std::int64_t>(bytes) / 8,
                             commutes,  grid};
            const Algorithm chosen = choose(given, nullptr);
            bool known = false;
            for (const AlgorithmEntry& entry : algorithms()) {
              known = known || (entry.operation == operation && entry.algorithm == chosen);
            }
            EXPECT_TRUE(known) << name(operation) << " " << name(chosen);
          }
        }
      }
    }
  }
}

// Groups are used only where that pays, or where the user says so.
TEST(Choose, KeepsToGroupsWhereConnectionsAreFew) {
  Case given;
  given.operation = Operation::alltoallv;
  given.ranks = 64;
  given.groups = true;
  EXPECT_EQ(choose(given, nullptr), Algorithm::linear);
  const std::uint32_t each[] = {0, 0, 1, 1};
  const Groups groups(each);
  Choices choices;
  choices.set_groups(groups, Bundling::nothing);
  EXPECT_EQ(choose(given, &choices), Algorithm::linear);
  choices.set_groups(groups, Bundling::most_blocks);
  EXPECT_EQ(choose(given, &choices), Algorithm::groups);
  given.operation = Operation::alltoall;
  given.bytes = 1000;
  EXPECT_EQ(choose(given, &choices), Algorithm::groups);
  given.bytes = 131'073;
  EXPECT_EQ(choose(given, &choices), Algorithm::pairwise);
  given.bytes = 131'072;
  EXPECT_EQ(choose(given, &choices), Algorithm::groups);
  // If shortcuts reach everybody: only blocks that are known to be short.
  choices.set_groups(groups, Bundling::short_blocks);
  given.bytes = 8193;
  EXPECT_EQ(choose(given, &choices), Algorithm::linear);
  given.bytes = 8192;
  EXPECT_EQ(choose(given, &choices), Algorithm::groups);
  given.operation = Operation::alltoallv;
  given.bytes = 0;
  EXPECT_EQ(choose(given, &choices), Algorithm::linear);
  given.operation = Operation::alltoall;
  given.groups = false;
  given.bytes = 100;
  EXPECT_EQ(choose(given, &choices), Algorithm::bruck);
  ASSERT_TRUE(choices.force("alltoall=groups"));
  EXPECT_EQ(choose(given, &choices), Algorithm::bruck);
}

TEST(Usage, CountsByTheWordsThatForce) {
  Usage usage;
  EXPECT_TRUE(usage.by_name().empty());
  usage.add(Operation::allreduce, Algorithm::recursive_doubling);
  usage.add(Operation::allreduce, Algorithm::recursive_doubling);
  for (const AlgorithmEntry& entry : algorithms()) usage.add(entry.operation, entry.algorithm);
  const auto used = usage.by_name();
  EXPECT_EQ(used.size(), algorithms().size());
  EXPECT_EQ(used.at("allreduce=recursive-doubling"), 3u);
  for (const auto& [words, count] : used) EXPECT_TRUE(Choices().force(words)) << words;
}

TEST(Choose, ListsAllForHelp) {
  const std::string text = list_algorithms();
  EXPECT_NE(text.find("alltoall: bruck pairwise linear bucket groups\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace weft::coll
