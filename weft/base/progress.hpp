// SPDX-License-Identifier: Apache-2.0
// A progress line for long work. It is silent unless the output is a terminal, prints at most ten
// times a second and leaves nothing behind. The clock is passed in, because only the program may
// read the wall clock; no thread is started, so the work calls update() as it goes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace weft {

class Progress {
 public:
  using Clock = std::function<double()>;               // Seconds since an arbitrary start.
  using Sink = std::function<void(std::string_view)>;  // Empty: silent.

  Progress(Clock clock, Sink sink);
  // Writes to standard error if that is a terminal.
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
