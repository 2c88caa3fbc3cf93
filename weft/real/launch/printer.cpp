// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/printer.hpp"

#include <algorithm>

namespace weft::launch {
namespace {

// How long a partial line waits for its end, and how long others wait for the end of a partial line
// that was printed.
constexpr std::int64_t part_ms = 50;
constexpr std::int64_t open_ms = 500;
constexpr std::size_t line_size_max = 64 << 10;  // Longer lines are cut.

// The length up to the last line end.
std::size_t whole_lines(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? 0 : end + 1;
}

}  // namespace

void Printer::add(std::uint32_t rank, std::string_view bytes) {
  if (closed_) return;
  Line& line = lines_[rank];
  line.text += bytes;
  line.touched_ms = now_ms();
  waiting_ += bytes.size();
  pump();
}

void Printer::put_labelled(std::uint32_t rank, std::string_view text) {
  const std::string label = "[" + std::to_string(rank) + "] ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out_ += label;
    out_ += text.substr(0, end);
    if (text[end - 1] != '\n') out_ += '\n';
    text.remove_prefix(end);
  }
}

void Printer::put(std::uint32_t rank, Line& line, std::size_t size) {
  if (size == 0) return;
  const std::string_view text = std::string_view(line.text).substr(0, size);
  if (listener_) listener_(rank, descriptor(), text);
  if (out_.size() > kept_max_) {
    dropped_ += text.size();
  } else if (label_) {
    put_labelled(rank, text);
  } else {
    out_ += text;
    open_ = text.back() == '\n' ? nobody : rank;
    opened_ms_ = now_ms();
  }
  waiting_ -= size;
  line.text.erase(0, size);
}

void Printer::let_out(std::uint32_t rank, Line& line) {
  const bool mine = open_ == rank;
  if (open_ != nobody && !mine && now_ms() - opened_ms_ < open_ms) return;
  put(rank, line, whole_lines(line.text));
  const bool late = !label_ && now_ms() - line.touched_ms >= part_ms;
  const bool goes_on = open_ == rank;
  if (goes_on || ((late || line.text.size() > line_size_max) && open_ == nobody))
    put(rank, line, line.text.size());
}

void Printer::pump() {
  if (open_ != nobody)
    if (const auto own = lines_.find(open_); own != lines_.end()) let_out(own->first, own->second);
  for (auto it = lines_.begin(); it != lines_.end();) {
    let_out(it->first, it->second);
    it = it->second.text.empty() ? lines_.erase(it) : std::next(it);
  }
}

Deadline Printer::next() const {
  if (lines_.empty() || label_) return Deadline::never();
  return Deadline::in_ms(open_ == nobody ? part_ms : open_ms / 4);
}

void Printer::end(std::uint32_t rank) {
  if (const auto it = lines_.find(rank); it != lines_.end()) {
    put(rank, it->second, it->second.text.size());
    lines_.erase(it);
  }
  if (open_ == rank) open_ = nobody;
  pump();
}

void Printer::say(std::string_view line) {
  if (closed_) return;
  if (open_ != nobody) out_ += '\n';
  open_ = nobody;
  out_ += line;
  out_ += '\n';
}

void Printer::end_all() {
  while (!lines_.empty()) end(lines_.begin()->first);
}

void Printer::give_up() {
  dropped_ += out_.size();
  out_.clear();
}

bool Printer::write_now() {
  const long done = output_.write_some(out_);
  if (done >= 0) {
    out_.erase(0, static_cast<std::size_t>(done));
    return true;
  }
  closed_ = true;
  lines_.clear();
  out_.clear();
  waiting_ = 0;
  return false;
}

}  // namespace weft::launch
