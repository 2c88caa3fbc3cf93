// SPDX-License-Identifier: Apache-2.0
#include "weft/program/simulated_run/workers.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(WorkersThatPay, SmallNetworksAreLeftToOne) {
  EXPECT_EQ(workers_that_pay(0, 16), 1);
  EXPECT_EQ(workers_that_pay(48, 16), 1);
  EXPECT_EQ(workers_that_pay(511, 16), 1);
  EXPECT_EQ(workers_that_pay(512, 16), 2);
}

TEST(WorkersThatPay, NotMoreThanEightForFourThousandRouters) {
  EXPECT_EQ(workers_that_pay(4096, 16), 8);
  EXPECT_EQ(workers_that_pay(8192, 16), 16);
}

TEST(WorkersThatPay, NotMoreThanCoresNorThanAreAllowed) {
  EXPECT_EQ(workers_that_pay(65536, 2), 2);
  EXPECT_EQ(workers_that_pay(65536, 0), 1);  // Unknown.
  EXPECT_EQ(workers_that_pay(1u << 20, 256), 63);
}

TEST(OthersRunning, AllButThisOne) {
  EXPECT_EQ(others_running("0.20 0.18 0.12 1/80 11206\n"), 0u);
  EXPECT_EQ(others_running("8.98 8.06 6.89 9/700 3\n"), 8u);
  EXPECT_EQ(others_running("0.00 0.00 0.00 0/80 11206\n"), 0u);
  EXPECT_EQ(others_running(""), 0u);
  EXPECT_GE(idle_cores(), 1u);
}

}  // namespace
}  // namespace weft
