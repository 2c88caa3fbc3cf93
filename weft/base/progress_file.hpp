// SPDX-License-Identifier: Apache-2.0
// A file that says how far long work has come, for jobs that nobody watches: one line of JSON,
// replaced as a whole about once a second. Its last line says how the work ended; only a process
// that was killed leaves "running" behind. As with Progress, the clock is passed in and the work
// calls update() as it goes, from one thread at a time.
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
  using Clock = std::function<double()>;  // Seconds, from any start.
  enum class State { running, done, interrupted, failed };

  // Writes the first line; an error when that cannot be done.
  static Result<ProgressFile> start(std::string path, Clock clock);

  ProgressFile(ProgressFile&& other) noexcept;
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ProgressFile& operator=(ProgressFile&&) = delete;
  ~ProgressFile();  // Work that did not finish has failed.

  // A number of the work's own, from the next line on: "points_done": 3.
  void note(std::string_view name, std::int64_t value);
  // Share in [0, 1]; negative: unknown. A disk that is full for a while does not end the work.
  void update(double share, std::string_view what);
  // The last line. What comes afterwards does nothing.
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
