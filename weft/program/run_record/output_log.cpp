// SPDX-License-Identifier: Apache-2.0
#include "output_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

namespace weft {

namespace {

constexpr std::size_t line_size_max = 64 << 10;
constexpr std::size_t buffer_size_max = 64 << 10;

}  // namespace

Result<std::unique_ptr<OutputLog>> OutputLog::create(const std::string& folder) {
  const std::string path = folder + "/" + output_log_name;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return Error::input(path + ": " + std::strerror(errno));
  std::unique_ptr<OutputLog> log(new OutputLog(descriptor, path));
  log->buffer_ = "# weft output: time_ps rank stream text\n";
  log->flush();
  return log;
}

OutputLog::~OutputLog() {
  ::close(descriptor_);
}

void OutputLog::write_line(const Source& source, std::int64_t at_ps, std::string_view text) {
  buffer_ += fmt::format("{} {} {} {}\n", at_ps, source.first, source.second, text);
  if (buffer_.size() >= buffer_size_max) flush();
}

void OutputLog::add(std::int64_t at_ps, std::uint32_t rank, int stream, std::string_view text) {
  const Source source(rank, stream);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Part& part = parts_[source];
    part.at_ps = at_ps;
    part.text += text.substr(0, end);
    const bool whole = end != std::string_view::npos;
    if (!whole && part.text.size() < line_size_max) return;
    write_line(source, part.at_ps, part.text);
    parts_.erase(source);
    if (!whole) return;
    text.remove_prefix(end + 1);
  }
}

void OutputLog::flush() {
  std::string_view left = buffer_;
  while (!left.empty() && failure_ == 0) {
    const ssize_t wrote = ::write(descriptor_, left.data(), left.size());
    if (wrote < 0 && errno != EINTR) failure_ = errno;
    if (wrote > 0) left.remove_prefix(static_cast<std::size_t>(wrote));
  }
  buffer_.clear();
}

void OutputLog::add_after_crash(std::int64_t at_ps, std::uint32_t rank, int stream,
                                std::string_view text) {
  flush();
  std::array<char, 64> head;
  char* end = head.begin();
  for (const std::int64_t number : {at_ps, std::int64_t{rank}, std::int64_t{stream}}) {
    end = std::to_chars(end, head.end(), number).ptr;
    *end++ = ' ';
  }
  const bool whole = text.ends_with('\n');
  const iovec parts[] = {{head.begin(), static_cast<std::size_t>(end - head.begin())},
                         {const_cast<char*>(text.data()), text.size()},
                         {const_cast<char*>("\n"), whole ? 0u : 1u}};
  if (::writev(descriptor_, parts, 3) < 0) failure_ = errno;
}

Status OutputLog::finish() {
  for (const auto& [source, part] : parts_) write_line(source, part.at_ps, part.text);
  parts_.clear();
  flush();
  if (failure_ == 0) return {};
  return Error::run(path_ + ": " + std::strerror(failure_));
}

}  // namespace weft
