// SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

using By = Launch::By;

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"}) {
      ::unsetenv(name);
    }
  }
  static void say(const char* maker, const char* self, const char* count) {
    const std::string prefix = maker;
    ::setenv((prefix + "_RANK").c_str(), self, 1);
    ::setenv((prefix + "_SIZE").c_str(), count, 1);
  }
  static void expect(By by, int self, int count) {
    const Launch launch = launched();
    EXPECT_EQ(launch.by, by);
    EXPECT_EQ(launch.self, self);
    EXPECT_EQ(launch.count, count);
  }
};

TEST_F(LaunchTest, NobodySaysAnything) {
  expect(By::nobody, 0, 1);
}

TEST_F(LaunchTest, OpenMpi) {
  say("OMPI_COMM_WORLD", "3", "16");
  expect(By::open_mpi, 3, 16);
}

TEST_F(LaunchTest, Mpich) {
  say("PMI", "0", "2");
  expect(By::mpich, 0, 2);
}

TEST_F(LaunchTest, OneProcessIsAlone) {
  say("OMPI_COMM_WORLD", "0", "1");
  say("PMI", "0", "1");
  expect(By::nobody, 0, 1);
}

TEST_F(LaunchTest, ALauncherInsideAJobOfOne) {
  say("OMPI_COMM_WORLD", "0", "1");
  say("PMI", "2", "4");
  expect(By::mpich, 2, 4);
}

TEST_F(LaunchTest, NonsenseIsNoJob) {
  say("PMI", "4", "4");
  expect(By::nobody, 0, 1);
  say("PMI", "-1", "4");
  expect(By::nobody, 0, 1);
  say("PMI", "x", "4");
  expect(By::nobody, 0, 1);
  say("PMI", "1", "99999999999");
  expect(By::nobody, 0, 1);
}

}  // namespace
}  // namespace weft
