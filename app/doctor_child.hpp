// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit, which leave nothing behind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::app {

// A temporary folder, removed with all its files.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct ProcessResult {
  int code = 0;        // 128 + the signal that ended it, if one did.
  bool late = false;   // It was killed at the time limit.
  bool ended = true;   // False after Ctrl-C.
  std::string output;  // The beginning of both output streams.
};

// Runs a command in a folder, which also takes its temporary files. All processes that it has
// started are gone when this returns.
ProcessResult run_bounded(const std::vector<std::string>& words, const std::string& folder,
                          Duration limit);
// The same for a function, in a child process; its return value is the exit code.
ProcessResult run_bounded(const std::function<int()>& work, Duration limit);

}  // namespace weft::app
