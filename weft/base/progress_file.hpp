// SPDX-License-Identifier: Apache-2.0
// A progress file for long, unattended jobs: one line of JSON, replaced as a whole about once a
// second. Its last line says how the work ended; only a killed process leaves "running" behind. As
// with Progress, the clock is passed in and the work calls update() as it goes, from one thread at
// a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

class ProgressFile {
 public:
  using Clock = std::function<double()>;  // Seconds since an arbitrary start.
  enum class State { running, done, interrupted, failed };

  // Writes the first line; returns an error if that fails.
  static Result<ProgressFile> start(std::string path, Clock clock);

  ProgressFile(ProgressFile&& other) noexcept;
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ProgressFile& operator=(ProgressFile&&) = delete;
  ~ProgressFile();  // Work that was not finished counts as failed.

  // Adds a number of the caller's to all following lines: "points_done": 3.
  void note(std::string_view name, std::int64_t value);
  // `share` is in [0, 1], or negative if unknown. A temporarily full disk does not end the work.
  void update(double share, std::string_view what);
  // Writes the last line. Later calls do nothing.
  Status finish(State state);

 private:
  ProgressFile(std::string path, Clock clock);
  std::string line(State state) const;

  std::string path_;  // Empty: finished.
  Clock clock_;
  double start_ = 0, last_ = 0;
  double share_ = -1;
  std::string what_;
  std::vector<std::pair<std::string, std::int64_t>> notes_;
};

}  // namespace weft
