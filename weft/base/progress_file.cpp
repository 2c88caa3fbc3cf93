// SPDX-License-Identifier: Apache-2.0
#include "weft/base/progress_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <weft/base/file.hpp>

namespace weft {
namespace {

constexpr double interval_s = 1;
constexpr double estimate_after_s = 1;  // Earlier estimates fluctuate too much.

std::string json_string(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      made += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      made += c;
  }
  return made + '"';
}

std::string_view to_text(ProgressFile::State state) {
  switch (state) {
    case ProgressFile::State::running:
      return "running";
    case ProgressFile::State::done:
      return "done";
    case ProgressFile::State::interrupted:
      return "interrupted";
    case ProgressFile::State::failed:
      return "failed";
  }
  return "";
}

}  // namespace

ProgressFile::ProgressFile(std::string path, Clock clock)
    : path_(std::move(path)), clock_(std::move(clock)) {
  start_ = last_ = clock_();
}

ProgressFile::ProgressFile(ProgressFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      clock_(std::move(other.clock_)),
      start_(other.start_),
      last_(other.last_),
      share_(other.share_),
      what_(std::move(other.what_)),
      notes_(std::move(other.notes_)) {}

ProgressFile::~ProgressFile() {
  static_cast<void>(finish(State::failed));
}

Result<ProgressFile> ProgressFile::start(std::string path, Clock clock) {
  ProgressFile made(std::move(path), std::move(clock));
  if (Status written = write_file(made.path_, made.line(State::running)); !written) {
    made.path_.clear();
    return std::move(written).error();
  }
  return made;
}

void ProgressFile::note(std::string_view name, std::int64_t value) {
  for (auto& [known, number] : notes_) {
    if (known == name) {
      number = value;
      return;
    }
  }
  notes_.emplace_back(name, value);
}

void ProgressFile::update(double share, std::string_view what) {
  if (path_.empty()) return;
  share_ = std::min(share, 1.0);
  what_ = what;
  const double now = clock_();
  if (now - last_ < interval_s) return;
  last_ = now;
  static_cast<void>(write_file(path_, line(State::running)));
}

Status ProgressFile::finish(State state) {
  if (path_.empty()) return {};
  if (state == State::done) share_ = 1;
  Status written = write_file(path_, line(state));
  path_.clear();
  return written;
}

std::string ProgressFile::line(State state) const {
  const double spent = clock_() - start_;
  const bool guess = state == State::running && share_ > 0 && spent >= estimate_after_s;
  std::string text = fmt::format("{{\"state\":\"{}\"", to_text(state));
  text += share_ < 0 ? std::string(",\"share\":null") : fmt::format(",\"share\":{:.4f}", share_);
  text += fmt::format(",\"what\":{},\"elapsed_s\":{:.1f}", json_string(what_), spent);
  if (state == State::done)
    text += ",\"left_s\":0";
  else
    text += guess ? fmt::format(",\"left_s\":{:.1f}", spent / share_ * (1 - share_))
                  : std::string(",\"left_s\":null");
  for (const auto& [name, value] : notes_) text += fmt::format(",{}:{}", json_string(name), value);
  return text + "}\n";
}

}  // namespace weft
