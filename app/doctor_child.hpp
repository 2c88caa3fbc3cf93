// SPDX-License-Identifier: Apache-2.0
// Processes that nobody has to wait for longer than was said, and that leave nothing behind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::app {

// A new folder for programs, removed with all that is in it.
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

struct Ended {
  int code = 0;        // 128 + the signal's number, if it was one.
  bool late = false;   // It had to be ended.
  bool ended = true;   // False: interrupted().
  std::string output;  // The beginning of both streams.
};

// Runs a command in a folder, which is also where its temporary files fall. All that it has started
// is gone when this returns.
Ended run_bounded(const std::vector<std::string>& words, const std::string& folder, Duration limit);
// The same for a function; what it returns is the exit code, what it prints the output.
Ended run_bounded(const std::function<int()>& work, Duration limit);

}  // namespace weft::app
