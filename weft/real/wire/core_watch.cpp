// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include <weft/real/wire/core_watch.hpp>

namespace weft::wire {

namespace {

// The total time that this thread was ready but did not run; `before` if the kernel does not say.
std::uint64_t stood_in_line_ns(std::uint64_t before) {
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return before;
  char text[96] = {};
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return before;
  char* end = nullptr;
  static_cast<void>(std::strtoull(text, &end, 10));  // How long it ran.
  return std::strtoull(end, nullptr, 10);
}

}  // namespace

// Contested: the thread was ready but not running for more than a twentieth of the time.
void CoreWatch::look(std::uint64_t now) {
  constexpr std::uint64_t share = 20;
  constexpr std::uint64_t believe = 4;  // An answer holds this many times its measuring time,
  constexpr std::uint64_t least = 5;    // but for at least this many measurements
  constexpr std::uint64_t most = 500;   // and at most.
  const auto now_ns = static_cast<std::uint64_t>(real_now().in_ps() / 1000);
  const std::uint64_t stood_ns = stood_in_line_ns(stood_ns_);
  const bool same = ::pthread_equal(thread_, ::pthread_self()) != 0;
  if (looked_ != 0 && same && (stood_ns - stood_ns_) * share > now_ns - looked_ns_) {
    contested_until_ = now + std::clamp((now - looked_) * believe, every_ * least, every_ * most);
  }
  looked_ = now;
  looked_ns_ = now_ns;
  stood_ns_ = stood_ns;
  thread_ = ::pthread_self();
}

}  // namespace weft::wire
