// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>

#include <weft/real/wire/callers.hpp>

namespace weft::wire {

namespace {

constexpr Duration caller_limit = Duration::ms(5000);
constexpr std::size_t callers_max = 256;

Descriptor open_spare() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

void Callers::accept(const Descriptor& listener, std::uint32_t keep_free) {
  if (!spare_) spare_ = open_spare();
  for (;;) {
    Descriptor socket = accept_from(listener);
    if (socket && keep_free > 0 && descriptors_left() + 1 < keep_free) {
      socket.close();  // A peer of ours tries again.
      continue;
    }
    if (!socket && (errno == EMFILE || errno == ENFILE)) {
      // The caller would wait for ever, and we would hear of it again and again.
      spare_.close();
      socket = accept_from(listener);
      socket.close();
      spare_ = open_spare();
    }
    if (!socket || !take(std::move(socket))) return;
  }
}

// false: there are too many. That closes the socket, and a peer of ours tries again.
bool Callers::take(Descriptor socket) {
  auto slot = std::find(callers_.begin(), callers_.end(), nullptr);
  if (slot == callers_.end()) {
    if (callers_.size() >= callers_max) return false;
    slot = callers_.insert(callers_.end(), nullptr);
  }
  const auto index = static_cast<std::uint32_t>(slot - callers_.begin());
  *slot = std::make_unique<Caller>(std::move(socket), secret_, host_.now());
  host_.watch(kind_, token_bit | index, (*slot)->socket().get());
  return true;
}

std::unique_ptr<Caller> Callers::hear(std::uint32_t token) {
  const std::uint32_t slot = token & ~token_bit;
  if (slot >= callers_.size() || callers_[slot] == nullptr) return nullptr;
  const Step step = callers_[slot]->advance();
  if (step == Step::wait) return nullptr;
  std::unique_ptr<Caller> caller = std::move(callers_[slot]);
  return step == Step::done ? std::move(caller) : nullptr;
}

void Callers::tend(Time now) {
  for (auto& caller : callers_) {
    if (caller != nullptr && now - caller->since() > caller_limit) caller.reset();
  }
}

}  // namespace weft::wire
