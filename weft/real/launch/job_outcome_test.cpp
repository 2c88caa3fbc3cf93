// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/job_outcome.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace weft::launch {
namespace {

const JobOutcome::Among all = [](std::uint32_t) { return true; };

constexpr int code(int value) {
  return value << 8;
}

TEST(JobOutcome, IsGoodWhenAllEndWell) {
  JobOutcome outcome({"a", "a", "b"});
  outcome.sat(0);
  outcome.left(0);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(outcome.all_ended());
    EXPECT_FALSE(outcome.ended(rank, code(0), true));
  }
  EXPECT_TRUE(outcome.all_ended());
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.reason() + outcome.reason_of_loss(), "");
}

TEST(JobOutcome, NamesTheFirstFailureAndHasTheWorstCode) {
  JobOutcome outcome({"a", "a", "b"});
  EXPECT_TRUE(outcome.ended(2, code(3), true));
  EXPECT_TRUE(outcome.ended(0, SIGSEGV, true));
  EXPECT_FALSE(outcome.ended(1, SIGKILL, false));  // Killed by us.
  EXPECT_EQ(outcome.reason(), "rank 2 on host b ended with code 3");
  EXPECT_EQ(outcome.code(), 128 + SIGSEGV);
}

TEST(JobOutcome, NoticesWhoEndsWithoutLeaving) {
  JobOutcome outcome({"a", "a"});
  EXPECT_TRUE(outcome.lost(1, outcome.others_run(1, all)));
  EXPECT_FALSE(outcome.lost(1, outcome.others_run(1, all)));
  EXPECT_TRUE(outcome.gone(1));
  EXPECT_EQ(outcome.reason(), "");
  EXPECT_EQ(outcome.reason_of_loss().substr(0, 25), "rank 1 on host a was lost");
  EXPECT_TRUE(outcome.ended(1, code(0), true));
  EXPECT_EQ(outcome.reason(),
            "rank 1 on host a ended with code 0, but without leaving the job (MPI_Finalize)");
  EXPECT_EQ(outcome.code(), 1);
}

TEST(JobOutcome, NamesTheFirstThatWasLostThoughItIsSeenToEndLater) {
  JobOutcome outcome({"a", "a", "a"});
  EXPECT_TRUE(outcome.lost(2, outcome.others_run(2, all)));
  EXPECT_TRUE(outcome.ended(0, code(9), true));
  EXPECT_EQ(outcome.reason(), "");
  EXPECT_TRUE(outcome.ended(2, code(3), true));
  EXPECT_EQ(outcome.reason(), "rank 2 on host a ended with code 3");
  EXPECT_EQ(outcome.code(), 9);
}

// A surviving rank may end the job before the end of the lost one is reported.
TEST(JobOutcome, TheLostOneCountsHoweverLate) {
  JobOutcome outcome({"a", "a", "a"});
  EXPECT_TRUE(outcome.lost(1, outcome.others_run(1, all)));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_FALSE(outcome.ended(0, SIGKILL, false));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_TRUE(outcome.ended(1, SIGKILL, false));
  EXPECT_EQ(outcome.code(), 137);
  EXPECT_EQ(outcome.reason(), "rank 1 on host a was ended by signal 9 (Killed)");
}

TEST(JobOutcome, LetsTheLastOneGoAsItLikes) {
  JobOutcome outcome({"a", "a"});
  EXPECT_FALSE(outcome.ended(0, code(0), true));
  EXPECT_FALSE(outcome.lost(1, outcome.others_run(1, all)));
  EXPECT_FALSE(outcome.ended(1, code(0), true));
  EXPECT_EQ(outcome.code(), 0);
}

TEST(JobOutcome, CountsALostHostOnce) {
  JobOutcome outcome({"a", "b"});
  outcome.failed(1, "host b is lost");
  outcome.failed(1, "again");
  EXPECT_FALSE(outcome.all_ended());
  EXPECT_FALSE(outcome.ended(0, code(0), true));
  EXPECT_TRUE(outcome.all_ended());
  EXPECT_EQ(outcome.reason(), "host b is lost");
  EXPECT_EQ(outcome.code(), 1);
}

// Nobody is ended while all handle errors, until some know of the loss and none knows what to do.
TEST(JobOutcome, GoesOnIfTheOthersDo) {
  JobOutcome outcome({"a", "a", "a"});
  for (const std::uint32_t rank : {0U, 1U, 2U}) outcome.sat(rank);
  outcome.set_resilience(0, Resilience::handles);
  EXPECT_FALSE(outcome.goes_on(all));
  EXPECT_TRUE(outcome.lost(1, outcome.others_run(1, all)));
  EXPECT_TRUE(outcome.is_lost(1));
  EXPECT_FALSE(outcome.goes_on(all));
  outcome.set_resilience(2, Resilience::handles);
  EXPECT_TRUE(outcome.goes_on(all));
  outcome.set_resilience(2, Resilience::noticed);
  EXPECT_FALSE(outcome.goes_on(all));
  outcome.set_resilience(0, Resilience::recovers);
  EXPECT_TRUE(outcome.goes_on(all));
  EXPECT_FALSE(outcome.has_left(0));
  outcome.left(0);
  EXPECT_TRUE(outcome.has_left(0));
  EXPECT_FALSE(outcome.goes_on(all));
}

}  // namespace
}  // namespace weft::launch
