// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: names of files in a folder that belongs to this process and goes
// with it. Tests run side by side, so a fixed name in the common folder would be written by two.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace weft {

inline std::string test_file(const std::string& name) {
  struct Folder {
    Folder() : path(testing::TempDir() + "weft_test_XXXXXX") {
      made = ::mkdtemp(path.data()) != nullptr;
      EXPECT_TRUE(made) << path;
    }
    ~Folder() {
      std::error_code ignored;
      if (made) std::filesystem::remove_all(path, ignored);
    }
    std::string path;
    bool made = false;
  };
  static const Folder folder;
  return folder.path + "/" + name;
}

}  // namespace weft
