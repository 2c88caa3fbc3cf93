// SPDX-License-Identifier: Apache-2.0
// What the network, the launcher and the clock bring.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/watched.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

namespace {

constexpr Duration tend_every = Duration::ms(5);
constexpr Duration caller_limit = Duration::ms(5000);
constexpr std::size_t most_callers = 256;  // That have not proved anything yet.

}  // namespace

void Wire::watch(const Descriptor& socket, RankId peer, RailId rail, bool out) {
  add_watch(epoll_, socket.get(), Watched::link(peer, rail), out);
}

void Wire::watch_cards() {
  for (const int descriptor : ofi_->descriptors()) {
    add_watch(epoll_, descriptor, Watched::card(), false);
  }
}

int Wire::look(int timeout_ms) {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
  last_look_ = ticks();
  for (int i = 0; i < count; ++i)
    hear(events[i].data.u64, (events[i].events & ~std::uint32_t{EPOLLOUT}) != 0);
  if (ofi_ != nullptr && ofi_->poll()) watch_cards();
  if (links_.empty() && callers_.empty()) return count;
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
  for (auto& caller : callers_) {
    if (caller != nullptr && at - caller->since() > caller_limit) caller.reset();
  }
}

void Wire::hear(std::uint64_t word, bool readable) {
  const Watched what = Watched::unpack(word);
  switch (what.kind) {
    case Watched::Kind::bell: {
      char sounds[64];
      while (::read(segment_->bell(), sounds, sizeof sounds) > 0) {
      }
      break;
    }
    case Watched::Kind::seat:
      hear_seat();
      break;
    case Watched::Kind::door:
      open_door(what.index);
      break;
    case Watched::Kind::caller:
      hear_caller(what.index);
      break;
    case Watched::Kind::link:
      peers_[what.index].link->stir(RailId(what.rail), readable, now());
      break;
    case Watched::Kind::card:
      break;  // They are asked at every look.
    case Watched::Kind::neighbour:
      lose_neighbour(*peers_[what.index].neighbour);
      break;
  }
}

// What it sent before it ended has been read: rings are asked before sockets. After a goodbye its
// end is no loss.
void Wire::lose_neighbour(Neighbour& neighbour) {
  if (neighbour.unread() && !neighbour.broken()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, neighbour.watcher.get(), nullptr);
  neighbour.set_lost();
  if (!neighbour.left()) lose(neighbour.peer(), "its process has ended");
}

void Wire::hear_seat() {
  launch::Notice notice;
  while (seat_.next_notice(notice)) {
    if (notice.kind == launch::Notice::Kind::end) {
      if (!leaving_) seat_.abort(1, "the launcher is gone");
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, seat_.descriptor(), nullptr);
      return;
    }
    if (notice.rank >= peers_.size() || notice.rank == self_.index) continue;
    Peer& peer = peers_[notice.rank];
    if (peer.link != nullptr && peer.link->open()) {
      peer.link->process_ended();
    } else if (peer.neighbour == nullptr || !peer.neighbour->left()) {
      if (peer.neighbour != nullptr) peer.neighbour->set_lost();
      lose(RankId(notice.rank), "its process has ended");
    }
  }
}

void Wire::open_door(std::size_t rail) {
  for (;;) {
    Descriptor socket = accept_from(doors_[rail]);
    const std::uint32_t keep = link_setting_.keep_free;
    if (socket && keep > 0 && descriptors_left() + 1 < keep) {
      socket.close();  // Whoever is one of us tries again.
      continue;
    }
    if (!socket && (errno == EMFILE || errno == ENFILE)) {
      // Who calls would stand at the door for ever, and we would hear of it again and again.
      spare_.close();
      socket = accept_from(doors_[rail]);
      socket.close();
      spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    if (!socket) return;
    auto slot = std::find(callers_.begin(), callers_.end(), nullptr);
    if (slot == callers_.end()) {
      if (callers_.size() >= most_callers) return;  // Closes it: whoever is one of us tries again.
      slot = callers_.insert(callers_.end(), nullptr);
    }
    const auto index = static_cast<std::size_t>(slot - callers_.begin());
    *slot = std::make_unique<Caller>(std::move(socket), link_setting_.secret, now());
    add_watch(epoll_, (*slot)->socket().get(), Watched::caller(index), false);
  }
}

void Wire::hear_caller(std::size_t slot) {
  if (slot >= callers_.size() || callers_[slot] == nullptr) return;
  const Step step = callers_[slot]->advance();
  if (step == Step::wait) return;
  const std::unique_ptr<Caller> caller = std::move(callers_[slot]);
  if (step == Step::failed) return;
  const Claim& claim = caller->claim();
  if (claim.to != self_.index || claim.from >= peers_.size() ||
      peers_[claim.from].link == nullptr) {
    return;
  }
  Link& link = *peers_[claim.from].link;
  const Verdict verdict = leaving_ ? Verdict::taken : link.judge(claim);
  if (!caller->answer(verdict) || verdict != Verdict::welcome) return;
  link.admit(caller->take(), claim, now());
  connect(RankId(claim.from));
}

int Wire::sleep_ms(Time until) const {
  int most = neighbours_.empty() && links_.empty() ? 1000 : 100;
  for (const Link* const link : links_) {
    most = std::min(most, link->outstanding() ? 1 : link->settled() ? 100 : 10);
  }
  if (std::any_of(neighbours_.begin(), neighbours_.end(),
                  [](const Neighbour* n) { return n->pending(); })) {
    most = 1;  // Nobody tells when there is room again.
  }
  if (ofi_ != nullptr) most = ofi_->sleep_ms(most);
  if (until < Time::never()) {
    // Rounded up: asking again and again would keep a core from those we wait for.
    const double left = (until - now()).in_seconds() * 1000;
    most = std::clamp(static_cast<int>(left) + 1, left > 0 ? 1 : 0, std::max(most, 1));
  }
  return most;
}

// Who puts something into a ring of ours sees that we sleep, or we see what it put there.
void Wire::sleep(Time until) {
  std::atomic<std::uint32_t>& sleeps = segment_->head().sleeps;
  sleeps.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool something = std::any_of(neighbours_.begin(), neighbours_.end(),
                                     [](const Neighbour* n) { return n->waiting(); });
  if (!something) in_vain_ = look(sleep_ms(until)) == 0;
  sleeps.store(0, std::memory_order_relaxed);
}

void Wire::leave(Duration most) {
  const Time limit = now() + most;
  for (Link* const link : links_) link->say_goodbye();
  for (Neighbour* const neighbour : neighbours_) {
    if (!neighbour->lost() && !neighbour->left()) neighbour->say_goodbye();
  }
  const auto owing = [&] {
    return std::any_of(links_.begin(), links_.end(), [](Link* link) { return link->owes(); }) ||
           std::any_of(neighbours_.begin(), neighbours_.end(),
                       [](Neighbour* n) { return !n->lost() && n->pending(); });
  };
  leaving_ = true;
  Completion ignored;
  while (owing() && now() < limit) {
    while (poll(ignored)) {
    }
    wait(now() + Duration::ms(1));
  }
  doors_.clear();
  if (ofi_ != nullptr) ofi_->report(self_);
}

}  // namespace weft::wire
