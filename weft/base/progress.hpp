// SPDX-License-Identifier: Apache-2.0
// One line that says how far long work has come. Silent unless the output is a terminal; never
// more than ten lines a second; leaves nothing behind. The clock is passed in, because only the
// program may look at the wall clock; no thread is started, so the work calls update() as it goes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace weft {

class Progress {
 public:
  using Clock = std::function<double()>;               // Seconds, from any start.
  using Sink = std::function<void(std::string_view)>;  // Empty: silent.

  Progress(Clock clock, Sink sink);
  // To standard error if that is a terminal.
  static Progress to_stderr(Clock clock);

  Progress(Progress&& other) noexcept;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();

  bool visible() const { return static_cast<bool>(sink_); }
  // fraction in [0, 1]: "42% text (about 1:30 left)". A negative fraction means unknown.
  void update(double fraction, std::string_view text);
  void finish();  // Clears the line; the destructor does it too.

 private:
  Clock clock_;
  Sink sink_;
  double start_ = 0;
  double last_ = 0;
  bool shown_ = false;
};

}  // namespace weft
