// SPDX-License-Identifier: Apache-2.0
#include "weft/program/run_record/output_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>

namespace weft {
namespace {

constexpr const char* head = "# weft output: time_ps rank stream text\n";

TEST(OutputLog, KeepsLinesOfRanksApart) {
  const TestPlace folder;
  auto log = OutputLog::create(folder.path);
  ASSERT_TRUE(log) << log.error().text();
  (*log)->add(5, 0, 1, "one ");
  (*log)->add(6, 1, 1, "two\n\nthree\n");
  (*log)->add(7, 0, 2, "error\n");
  (*log)->add(8, 0, 1, "line\nrest");
  (*log)->flush();
  const std::string whole =
      std::string(head) + "6 1 1 two\n6 1 1 \n6 1 1 three\n7 0 2 error\n8 0 1 one line\n";
  EXPECT_EQ(*read_file(folder.path + "/" + output_log_name), whole);
  EXPECT_TRUE((*log)->finish());
  EXPECT_EQ(*read_file(folder.path + "/" + output_log_name), whole + "8 0 1 rest\n");
}

TEST(OutputLog, WaitsNotForeverForTheEndOfALine) {
  const TestPlace folder;
  auto log = OutputLog::create(folder.path);
  ASSERT_TRUE(log);
  for (int i = 0; i < 100; ++i) (*log)->add(i, 0, 1, std::string(1024, 'x'));
  (*log)->flush();
  EXPECT_GT(read_file(folder.path + "/" + output_log_name)->size(), std::size_t{64} << 10);
}

TEST(OutputLog, SaysThatTheDiskIsFull) {
  const TestPlace folder;
  const std::string path = folder.path + "/" + output_log_name;
  ASSERT_EQ(::symlink("/dev/full", path.c_str()), 0);
  auto log = OutputLog::create(folder.path);
  ASSERT_TRUE(log);
  (*log)->add(1, 0, 1, "text\n");
  const Status end = (*log)->finish();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().text().find("No space left"), std::string::npos);
  EXPECT_FALSE(OutputLog::create(folder.path + "/nowhere"));
}

}  // namespace
}  // namespace weft
