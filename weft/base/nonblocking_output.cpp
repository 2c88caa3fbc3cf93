// SPDX-License-Identifier: Apache-2.0
#include "weft/base/nonblocking_output.hpp"

#include <cerrno>
#include <charconv>
#include <climits>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft {
namespace {

// System calls: a program under `weft sim` has write() and poll() of its own.
long write_now(int descriptor, std::string_view bytes) {
  return ::syscall(SYS_write, descriptor, bytes.data(), bytes.size());
}

bool has_room(int descriptor, int ms) {
  pollfd room = {descriptor, POLLOUT, 0};
  const timespec limit = {ms / 1000, ms % 1000 * 1'000'000L};
  return ::syscall(SYS_ppoll, &room, 1, ms < 0 ? nullptr : &limit, nullptr, 0) > 0;
}

}  // namespace

NonblockingOutput::~NonblockingOutput() {
  if (own_ >= 0) ::close(own_);
}

void NonblockingOutput::look() {
  struct stat about = {};
  if (::fstat(descriptor_, &about) != 0 || S_ISREG(about.st_mode) || S_ISBLK(about.st_mode)) {
    kind_ = Kind::file;
  } else if (S_ISSOCK(about.st_mode)) {
    kind_ = Kind::socket;
  } else {
    kind_ = Kind::pipe;
    char path[32] = "/proc/self/fd/";
    char* const number = path + sizeof "/proc/self/fd/" - 1;
    *std::to_chars(number, path + sizeof path - 1, descriptor_).ptr = '\0';
    own_ = ::open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own_ >= 0) kind_ = Kind::reopened;
  }
}

long NonblockingOutput::write_some(std::string_view bytes) {
  if (kind_ == Kind::unknown) look();
  long done = 0;
  switch (kind_) {
    case Kind::unknown:
    case Kind::file:
      done = write_now(descriptor_, bytes);
      break;
    case Kind::socket:
      done = ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      break;
    case Kind::reopened:
      done = write_now(own_, bytes);
      break;
    case Kind::pipe:
      // A pipe with room accepts this much without blocking, if nobody else fills it now.
      if (!has_room(descriptor_, 0)) return 0;
      done = write_now(descriptor_, bytes.substr(0, PIPE_BUF));
      break;
  }
  if (done >= 0) return done;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

bool NonblockingOutput::wait(int ms) const {
  return has_room(descriptor_, ms);
}

}  // namespace weft
