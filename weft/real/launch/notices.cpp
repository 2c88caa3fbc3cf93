// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/notices.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace weft::launch {

Notices::~Notices() {
  if (watch_ >= 0) ::close(watch_);
  if (bell_ >= 0) ::close(bell_);
}

Status Notices::open(int source) {
  watch_ = ::epoll_create1(EPOLL_CLOEXEC);
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event readable = {};
  readable.events = EPOLLIN;
  bool done =
      watch_ >= 0 && bell_ >= 0 && ::epoll_ctl(watch_, EPOLL_CTL_ADD, bell_, &readable) == 0;
  if (done && source >= 0) done = ::epoll_ctl(watch_, EPOLL_CTL_ADD, source, &readable) == 0;
  if (!done) return Error::run(std::string("cannot watch the launcher: ") + std::strerror(errno));
  source_ = source;
  return {};
}

void Notices::add(const Notice& notice) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(bell_, &one, sizeof one));
  }
  waiting_.push_back(notice);
}

bool Notices::take(Notice& out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) return false;
  out = waiting_.front();
  waiting_.pop_front();
  if (waiting_.empty()) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(bell_, &count, sizeof count));
  }
  return true;
}

void Notices::forget_source() {
  if (source_ >= 0) ::epoll_ctl(watch_, EPOLL_CTL_DEL, source_, nullptr);
  source_ = -1;
}

}  // namespace weft::launch
