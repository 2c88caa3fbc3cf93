// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: file names in a temporary folder of this process, removed when it
// ends. Tests run in parallel, so a fixed name in a common folder would collide.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace weft {

struct TestPlace {
  TestPlace() : path(testing::TempDir() + "weft_test_XXXXXX") {
    made = ::mkdtemp(path.data()) != nullptr;
    EXPECT_TRUE(made) << path;
  }
  ~TestPlace() {
    std::error_code ignored;
    if (made) std::filesystem::remove_all(path, ignored);
  }
  TestPlace(const TestPlace&) = delete;
  TestPlace& operator=(const TestPlace&) = delete;

  std::string path;
  bool made = false;
};

inline std::string test_file(const std::string& name) {
  static const TestPlace folder;
  return folder.path + "/" + name;
}

// For tests that list a folder: each test has a folder of its own.
class FolderTest : public testing::Test {
 protected:
  const TestPlace place;
  const std::string& folder = place.path;
};

}  // namespace weft
