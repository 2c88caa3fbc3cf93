// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/verdict.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace weft::launch {
namespace {

constexpr int code(int value) {
  return value << 8;
}

TEST(Verdict, IsGoodWhenAllEndWell) {
  Verdict verdict({"a", "a", "b"});
  verdict.sat(0);
  verdict.left(0);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(verdict.all_ended());
    EXPECT_FALSE(verdict.ended(rank, code(0), true));
  }
  EXPECT_TRUE(verdict.all_ended());
  EXPECT_EQ(verdict.code(), 0);
  EXPECT_EQ(verdict.reason() + verdict.reason_of_loss(), "");
}

TEST(Verdict, NamesTheFirstFailureAndHasTheWorstCode) {
  Verdict verdict({"a", "a", "b"});
  EXPECT_TRUE(verdict.ended(2, code(3), true));
  EXPECT_TRUE(verdict.ended(0, SIGSEGV, true));
  EXPECT_FALSE(verdict.ended(1, SIGKILL, false));  // Killed by us.
  EXPECT_EQ(verdict.reason(), "rank 2 on host b ended with code 3");
  EXPECT_EQ(verdict.code(), 128 + SIGSEGV);
}

TEST(Verdict, NoticesWhoEndsWithoutLeaving) {
  Verdict verdict({"a", "a"});
  EXPECT_TRUE(verdict.lost(1));
  EXPECT_FALSE(verdict.lost(1));
  EXPECT_TRUE(verdict.gone(1));
  EXPECT_EQ(verdict.reason(), "");
  EXPECT_EQ(verdict.reason_of_loss().substr(0, 25), "rank 1 on host a was lost");
  EXPECT_TRUE(verdict.ended(1, code(0), true));
  EXPECT_EQ(verdict.reason(),
            "rank 1 on host a ended with code 0, but without leaving the job (MPI_Finalize)");
  EXPECT_EQ(verdict.code(), 1);
}

TEST(Verdict, NamesTheFirstThatWasLostThoughItIsSeenToEndLater) {
  Verdict verdict({"a", "a", "a"});
  EXPECT_TRUE(verdict.lost(2));
  EXPECT_TRUE(verdict.ended(0, code(9), true));
  EXPECT_EQ(verdict.reason(), "");
  EXPECT_TRUE(verdict.ended(2, code(3), true));
  EXPECT_EQ(verdict.reason(), "rank 2 on host a ended with code 3");
  EXPECT_EQ(verdict.code(), 9);
}

// A surviving rank may end the job before the end of the lost one is reported.
TEST(Verdict, TheLostOneCountsHoweverLate) {
  Verdict verdict({"a", "a", "a"});
  EXPECT_TRUE(verdict.lost(1));
  EXPECT_EQ(verdict.code(), 1);
  EXPECT_FALSE(verdict.ended(0, SIGKILL, false));
  EXPECT_EQ(verdict.code(), 1);
  EXPECT_TRUE(verdict.ended(1, SIGKILL, false));
  EXPECT_EQ(verdict.code(), 137);
  EXPECT_EQ(verdict.reason(), "rank 1 on host a was ended by signal 9 (Killed)");
}

TEST(Verdict, LetsTheLastOneGoAsItLikes) {
  Verdict verdict({"a", "a"});
  EXPECT_FALSE(verdict.ended(0, code(0), true));
  EXPECT_FALSE(verdict.lost(1));
  EXPECT_FALSE(verdict.ended(1, code(0), true));
  EXPECT_EQ(verdict.code(), 0);
}

TEST(Verdict, CountsALostHostOnce) {
  Verdict verdict({"a", "b"});
  verdict.failed(1, "host b is lost");
  verdict.failed(1, "again");
  EXPECT_FALSE(verdict.all_ended());
  EXPECT_FALSE(verdict.ended(0, code(0), true));
  EXPECT_TRUE(verdict.all_ended());
  EXPECT_EQ(verdict.reason(), "host b is lost");
  EXPECT_EQ(verdict.code(), 1);
}

}  // namespace
}  // namespace weft::launch
