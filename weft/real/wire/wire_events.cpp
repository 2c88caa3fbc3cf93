// SPDX-License-Identifier: Apache-2.0
// How a process hears of events: descriptors that are ready, the launcher, the clock.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/watched.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

namespace {

constexpr Duration tend_every = Duration::ms(5);

}  // namespace

void Wire::watch(int descriptor, RankId peer, RailId rail, bool for_room) {
  add_watch(epoll_, descriptor, Watched::rail(peer, rail), for_room);
}

void Wire::watch(const RailKind& kind, std::uint32_t token, int descriptor) {
  add_watch(epoll_, descriptor, Watched::kind(kind.row(), token), false);
}

Status Wire::share(CallLock& lock) {
  if (lock_ != nullptr) return {};
  bell_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell_)
    return Error::run(std::string("no descriptor to wake threads: ") + std::strerror(errno));
  add_watch(epoll_, bell_.get(), Watched::bell(), false);
  lock_ = &lock;
  lock.set_bell(bell_.get());
  return {};
}

int Wire::look(int timeout_ms) {
  epoll_event events[64];
  const bool sleeps = lock_ != nullptr && timeout_ms != 0;
  CallLock::Sleep asleep{};
  if (sleeps) asleep = lock_->fall_asleep(now().in_ps() / 1'000'000'000 + timeout_ms);
  const int count = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
  if (sleeps) lock_->wake_up(asleep);
  last_look_ = ticks();
  for (int i = 0; i < count; ++i)
    hear(events[i].data.u64, (events[i].events & ~std::uint32_t{EPOLLOUT}) != 0);
  bool tends = !links_.empty();
  for (const auto& kind : kinds_) {
    kind->look();
    tends = tends || kind->needs_tending();
  }
  if (!tends) return count;
  const Time at = now();
  if (at - last_tend_ > tend_every) {
    tend(at);
    return count;
  }
  for (Link* const link : links_) {
    if (link->outstanding()) link->tend(at);
  }
  return count;
}

void Wire::tend(Time at) {
  last_tend_ = at;
  for (Link* const link : links_) link->tend(at);
  std::erase_if(links_, [](const Link* link) { return link->idle(); });
  for (const auto& kind : kinds_) kind->tend(at);
}

void Wire::hear(std::uint64_t word, bool readable) {
  const Watched what = Watched::unpack(word);
  switch (what.owner) {
    case Watched::Owner::launcher:
      hear_launcher();
      break;
    case Watched::Owner::kind:
      for (const auto& kind : kinds_) {
        if (kind->row() == what.part) kind->stir(what.index);
      }
      break;
    case Watched::Owner::bell:  // It has woken us; the lock makes it silent again.
      break;
    case Watched::Owner::rail:
      peers_[what.index].link->stir(RailId(what.part), readable, now());
      break;
  }
}

void Wire::hear_launcher() {
  launch::Notice notice;
  answered_ = true;  // Perhaps: whoever waits for that looks.
  while (seat_.next_notice(notice)) {
    if (notice.kind == launch::Notice::Kind::end) {
      if (!leaving_) seat_.abort(1, "the launcher is gone");
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, seat_.descriptor(), nullptr);
      return;
    }
    if (!knows(RankId(notice.rank)) || notice.rank == self_.index) continue;
    Peer& peer = peers_[notice.rank];
    if (peer.left) continue;
    if (peer.link != nullptr && peer.link->open()) {
      peer.link->process_ended();
    } else if (peer.direct_kind != nullptr) {
      peer.direct_kind->process_ended(RankId(notice.rank));
    } else {
      lose(RankId(notice.rank), "its process has ended");
    }
  }
}

int Wire::sleep_ms(Time until) const {
  int most = links_.empty() ? 1000 : 100;
  for (const Link* const link : links_) {
    most = std::min(most, link->outstanding() ? 1 : link->settled() ? 100 : 10);
  }
  for (const auto& kind : kinds_) most = kind->sleep_ms(most);
  if (until < Time::never()) {
    // Rounded up: polling would keep a core from the processes that we wait for.
    const double left = (until - now()).in_seconds() * 1000;
    most = std::clamp(static_cast<int>(left) + 1, left > 0 ? 1 : 0, std::max(most, 1));
  }
  return most;
}

void Wire::sleep(Time until) {
  bool something = false;
  const int most = sleep_ms(until);
  if (lock_ != nullptr && lock_->defer(now().in_ps() / 1'000'000'000 + most)) return;
  ++sleepers_;
  for (RailKind* const kind : direct_kinds_) something = kind->fall_asleep() || something;
  if (!something) in_vain_ = look(most) == 0;
  if (--sleepers_ > 0) return;  // Another thread still sleeps, and has to be woken.
  for (RailKind* const kind : direct_kinds_) kind->wake_up();
}

void Wire::doze() {
  if (kept_ != nullptr) send_kept();
  const bool in_vain = in_vain_;
  if (!something_waits()) sleep(Time::never());
  in_vain_ = in_vain;
}

void Wire::leave(Duration most) {
  const Time limit = now() + most;
  for (Link* const link : links_) link->say_goodbye();
  for (RailKind* const kind : direct_kinds_) kind->say_goodbye();
  const auto owing = [&] {
    return std::any_of(links_.begin(), links_.end(), [](Link* link) { return link->owes(); }) ||
           std::any_of(direct_kinds_.begin(), direct_kinds_.end(),
                       [](const RailKind* kind) { return kind->owes(); });
  };
  leaving_ = true;
  Completion ignored;
  while (owing() && now() < limit) {
    while (poll(ignored)) {
    }
    wait(now() + Duration::ms(1));
  }
  for (const auto& kind : kinds_) kind->close();
}

}  // namespace weft::wire
