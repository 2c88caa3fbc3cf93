// SPDX-License-Identifier: Apache-2.0
// A folder for files that a fuzz target writes for a reader of files: in memory where there is such
// a file system, and gone at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <unistd.h>

namespace weft {

class ScratchFolder {
 public:
  ScratchFolder() {
    const bool shared = ::access("/dev/shm", W_OK) == 0;
    std::string name = (shared ? "/dev/shm" : "/tmp") + std::string("/fuzz-XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft
