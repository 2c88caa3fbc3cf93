// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::launch {

long write_some(int descriptor, std::string_view bytes) {
  ssize_t done = ::send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (done < 0 && errno == ENOTSOCK) {
    struct stat about = {};
    const bool file = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    // A pipe with room accepts this much without blocking.
    const std::size_t size = file ? bytes.size() : std::min<std::size_t>(bytes.size(), PIPE_BUF);
    done = ::write(descriptor, bytes.data(), size);
  }
  if (done >= 0) return done;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

Stream::~Stream() {
  close();
}

void Stream::close() {
  open_ = false;
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
  in_ = out_ = -1;
}

void Stream::fail(std::string why) {
  open_ = false;
  if (trouble_.empty()) trouble_ = std::move(why);
}

void Stream::write_now() {
  while (open_ && written_ < waiting_.size()) {
    const std::string_view rest = std::string_view(waiting_).substr(written_);
    const long done = write_some(out_, rest);
    if (done < 0) {
      // Data that the other side sent before it went away is still to be read.
      waiting_.clear();
      written_ = 0;
      return;
    }
    written_ += static_cast<std::size_t>(done);
    // A pipe may be full after a partial write.
    if (done == 0 || static_cast<std::size_t>(done) < rest.size()) break;
  }
  if (written_ == waiting_.size() || written_ > (1u << 20)) {
    waiting_.erase(0, written_);
    written_ = 0;
  }
}

void Stream::read_now() {
  std::array<char, 64 << 10> bytes;
  const ssize_t size = ::read(in_, bytes.data(), bytes.size());
  if (size > 0) {
    frames_.add(bytes.data(), static_cast<std::size_t>(size));
  } else if (size == 0) {
    fail(frames_.in_frame() ? "the stream breaks off" : "");
  } else if (errno != EINTR && errno != EAGAIN) {
    fail(errno == ECONNRESET ? "" : std::strerror(errno));
  }
}

bool Stream::next(Frame& out) {
  auto got = frames_.next(out);
  if (got) return *got;
  fail(got.error().message());
  return false;
}

}  // namespace weft::launch
