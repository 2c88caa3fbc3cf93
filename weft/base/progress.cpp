// SPDX-License-Identifier: Apache-2.0
#include "weft/base/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace weft {
namespace {

constexpr double interval_s = 0.1;
constexpr double estimate_after_s = 1;  // Earlier estimates fluctuate too much.
// One line of a narrow terminal: a longer line would wrap, and a wrapped line cannot be cleared.
constexpr std::size_t columns_max = 79;
constexpr std::string_view clear_line = "\r\x1b[K";

std::string clock_text(double seconds) {
  const std::int64_t whole = std::llround(std::min(seconds, 359'999.0));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(Clock clock, Sink sink) : clock_(std::move(clock)), sink_(std::move(sink)) {
  if (sink_) start_ = last_ = clock_();
}

Progress Progress::to_stderr(Clock clock) {
  if (::isatty(STDERR_FILENO) == 0) return {std::move(clock), Sink()};
  return {std::move(clock), [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

Progress::Progress(Progress&& other) noexcept
    : clock_(std::move(other.clock_)),
      sink_(std::exchange(other.sink_, nullptr)),
      start_(other.start_),
      last_(other.last_),
      shown_(std::exchange(other.shown_, false)) {}

Progress::~Progress() {
  finish();
}

void Progress::update(double fraction, std::string_view text) {
  if (!sink_) return;
  const double now = clock_();
  if (now - last_ < interval_s) return;
  last_ = now;
  std::string line;
  if (fraction >= 0) line = fmt::format("{:3.0f}% ", std::min(fraction, 1.0) * 100);
  line += text;
  const double spent = now - start_;
  if (fraction > 0 && fraction < 1 && spent >= estimate_after_s)
    line += fmt::format(" (about {} left)", clock_text(spent / fraction * (1 - fraction)));
  if (line.size() > columns_max) line.resize(columns_max);
  sink_(fmt::format("{}{}", clear_line, line));
  shown_ = true;
}

void Progress::finish() {
  if (shown_) sink_(clear_line);
  shown_ = false;
}

}  // namespace weft
