// SPDX-License-Identifier: Apache-2.0
#include "weft/base/progress_file.hpp"

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>

namespace weft {
namespace {

using State = ProgressFile::State;

class ProgressFileTest : public testing::Test {
 protected:
  ProgressFileTest() {
    auto made = ProgressFile::start(path, [this] { return now; });
    EXPECT_TRUE(made) << made.error().text();
    file.emplace(*std::move(made));
  }
  std::string text() const {
    auto read = read_file(path);
    return read ? *read : read.error().text();
  }

  double now = 100;
  std::string path = test_file("progress.json");
  std::optional<ProgressFile> file;
};

TEST_F(ProgressFileTest, IsThereFromTheBeginning) {
  EXPECT_EQ(text(),
            "{\"state\":\"running\",\"share\":null,\"what\":\"\",\"elapsed_s\":0.0,"
            "\"left_s\":null}\n");
}

TEST_F(ProgressFileTest, SaysHowFarTheWorkIs) {
  now += 10;
  file->note("points_done", 2);
  file->note("points_done", 3);
  file->update(0.25, "mesh \"a\\b\"\n at load 0.1");
  EXPECT_EQ(text(),
            "{\"state\":\"running\",\"share\":0.2500,\"what\":\"mesh \\\"a\\\\b\\\"\\u000a at load "
            "0.1\",\"elapsed_s\":10.0,\"left_s\":30.0,\"points_done\":3}\n");
}

TEST_F(ProgressFileTest, IsWrittenOnceASecond) {
  now += 1.5;
  file->update(0.1, "first");
  now += 0.5;
  file->update(0.2, "second");
  EXPECT_NE(text().find("first"), std::string::npos);
  now += 0.5;
  file->update(0.3, "third");
  EXPECT_NE(text().find("third"), std::string::npos);
}

TEST_F(ProgressFileTest, LastLineSaysHowItEnded) {
  file->update(0.5, "almost");  // Too soon after the previous line.
  now += 2;
  ASSERT_TRUE(file->finish(State::interrupted));
  const std::string last = text();
  EXPECT_EQ(last,
            "{\"state\":\"interrupted\",\"share\":0.5000,\"what\":\"almost\",\"elapsed_s\":2.0,"
            "\"left_s\":null}\n");
  now += 2;
  file->update(0.7, "afterwards");
  file.reset();
  EXPECT_EQ(text(), last);
}

TEST_F(ProgressFileTest, DoneIsAllOfIt) {
  now += 4;
  ASSERT_TRUE(file->finish(State::done));
  EXPECT_EQ(text(),
            "{\"state\":\"done\",\"share\":1.0000,\"what\":\"\",\"elapsed_s\":4.0,\"left_s\":0}\n");
}

TEST_F(ProgressFileTest, WorkThatDidNotFinishHasFailed) {
  ProgressFile moved = *std::move(file);
  file.reset();
  EXPECT_NE(text().find("\"running\""), std::string::npos);
  { const ProgressFile gone = std::move(moved); }
  EXPECT_NE(text().find("\"failed\""), std::string::npos);
}

TEST_F(ProgressFileTest, PathThatCannotBeWrittenIsAnError) {
  const auto refused =
      ProgressFile::start(test_file("no such folder/progress.json"), [] { return 0.0; });
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("no such folder"), std::string::npos);
}

}  // namespace
}  // namespace weft
