// SPDX-License-Identifier: Apache-2.0
// Opening and closing shortcuts. To close, each side sends a last frame that says how many came
// before it; the connection goes when both have received everything.
#include <algorithm>
#include <utility>

#include <weft/message/conn/shortcuts.hpp>

namespace weft::conn {

namespace {

constexpr std::uint32_t pause_first = 8, pause_most = 512;
constexpr std::uint32_t tries_most = 64;  // To open a connection where no route leads.

// Not so soon again.
void back_off(Link& link) {
  link.next_pause = std::clamp(link.next_pause * 2, pause_first, pause_most);
  link.pause = link.next_pause;
}

// Nothing of ours is under way on it.
bool is_idle(const Link& link) {
  return link.up() && link.open_cookies == 0 && !link.sticky && !link.last_in;
}

}  // namespace

Shortcuts::Shortcuts(State& state, Neighbours& neighbours, Relays& relays, Owner& owner)
    : state_(state),
      neighbours_(neighbours),
      relays_(relays),
      owner_(owner),
      random_(Rng(state.options.seed).stream("shortcuts", state.self.index)) {}

void Shortcuts::note_held(int change) {
  held_ = static_cast<std::uint32_t>(static_cast<int>(held_) + change);
  state_.counts.held_most = std::max(state_.counts.held_most, held_);
}

bool Shortcuts::reserve(RankId peer) {
  if (shortcuts_.size() >= state_.options.shortcuts) return false;
  shortcuts_.push_back(peer);
  state_.link(peer).counted = true;
  return true;
}

void Shortcuts::let_go(RankId peer) {
  if (std::exchange(state_.link(peer).counted, false)) std::erase(shortcuts_, peer);
}

void Shortcuts::want(RankId peer) {
  Link& to = state_.link(peer);
  if (to.state != Link::State::none || to.answer_due || state_.leaving ||
      state_.options.shortcuts == 0 || state_.is_gone(peer))
    return;
  if (to.pause > 0) {
    --to.pause;
    return;
  }
  if (!reserve(peer)) {
    evict_for(peer);
    return;
  }
  to.follow(LinkEvent::ask);
  to.answer_due = true;
  relays_.send(peer, Control::open);
}

void Shortcuts::hear(Control control, RankId peer) {
  Link& to = state_.link(peer);
  switch (control) {
    case Control::open:
      on_open_request(peer);
      break;
    case Control::agree:
      to.answer_due = false;
      if (to.state == Link::State::asked) open(peer);
      break;
    case Control::decline:
      to.answer_due = false;
      if (to.state != Link::State::asked) break;
      ++state_.counts.declined;
      to.follow(LinkEvent::decline);
      let_go(peer);
      back_off(to);
      serve_invited();
      break;
    case Control::rank_done:
    case Control::group_done:
    case Control::none:
      break;
  }
}

void Shortcuts::on_open_request(RankId peer) {
  Link& to = state_.link(peer);
  // Both asked at once: each takes the other's request for a yes. The connection may even have been
  // opened and closed since.
  if (std::exchange(to.answer_due, false)) {
    if (to.state == Link::State::asked) open(peer);
    return;
  }
  switch (to.state) {
    case Link::State::none:
      if (!state_.leaving && reserve(peer)) {
        relays_.send(peer, Control::agree);
        open(peer);
      } else if (!state_.leaving && state_.options.shortcuts > 0 && evict_for(peer)) {
        to.follow(LinkEvent::invite);
        invited_.push_back(peer);
      } else {
        relays_.send(peer, Control::decline);
      }
      break;
    case Link::State::opening:
    case Link::State::forcing:
    case Link::State::open:
      relays_.send(peer, Control::agree);
      break;
    case Link::State::closing:
    case Link::State::leaving:
      to.wanted_meanwhile = true;
      break;
    case Link::State::asked:
    case Link::State::invited:
      break;
  }
}

void Shortcuts::open(RankId peer) {
  state_.link(peer).follow(LinkEvent::connect);
  state_.below.connections.connect(peer);
}

void Shortcuts::opened(RankId peer) {
  Link& to = state_.link(peer);
  if (to.state >= Link::State::open || !state_.below.connections.needs_connection(peer)) return;
  if (to.state == Link::State::invited) std::erase(invited_, peer);
  to.follow(LinkEvent::opened);
  to.next_pause = to.tries = to.relayed = 0;
  to.used = ++state_.ticks;
  ++state_.counts.opened;
  note_held(1);
  if (state_.options.mode == Mode::managed && !to.neighbour &&
      state_.layout.neighbours(state_.self, peer)) {
    neighbours_.add(peer);  // It had been refused.
    let_go(peer);
  }
  if (!to.neighbour && state_.options.mode == Mode::managed) {
    ++state_.counts.shortcuts;
    if (!to.counted) {  // It was refused to us, and later not to the peer.
      to.counted = true;
      shortcuts_.push_back(peer);
      if (shortcuts_.size() > state_.options.shortcuts) evict();
    }
  }
  owner_.link_opened(peer);
  if (to.last_in) answer_close(peer);
}

void Shortcuts::force(RankId peer) {
  Link& to = state_.link(peer);
  if (to.state > Link::State::asked || !state_.below.connections.needs_connection(peer)) return;
  if (to.state == Link::State::invited) std::erase(invited_, peer);
  to.follow(LinkEvent::force);
  state_.below.connections.connect(peer);
}

bool Shortcuts::try_again(RankId peer) {
  Link& to = state_.link(peer);
  if (neighbours_.find_route(peer).found) return false;
  if (++to.tries > tries_most) {
    state_.unreachable.push_back(peer);
  } else {
    force(peer);
  }
  return true;
}

void Shortcuts::refused(RankId peer) {
  Link& to = state_.link(peer);
  if (!to.being_opened() || state_.is_gone(peer)) return;
  ++state_.counts.refused;
  const bool forced = to.state == Link::State::forcing;
  to.follow(LinkEvent::refused);
  evict();
  if (state_.options.mode != Mode::managed) {
    owner_.unreachable(peer);
    return;
  }
  if (forced && try_again(peer)) return;
  back_off(to);
  let_go(peer);
  owner_.link_refused(peer);
  serve_invited();
}

void Shortcuts::note_relayed(RankId peer) {
  Link& to = state_.link(peer);
  if (to.relayed++ == 0) to.relayed_since = ++state_.ticks;
}

// The shortcut that gives way next; this rank itself: none is idle.
RankId Shortcuts::victim() {
  std::vector<RankId> idle;
  for (const RankId peer : shortcuts_) {
    if (is_idle(state_.link(peer))) idle.push_back(peer);
  }
  if (idle.empty()) return state_.self;
  if (state_.options.replace == Replace::random) return idle[random_.next() % idle.size()];
  return *std::min_element(idle.begin(), idle.end(), [&](RankId a, RankId b) {
    return state_.link(a).used < state_.link(b).used;
  });
}

// Makes room by closing a shortcut on which nothing of ours is under way; false: there is none.
bool Shortcuts::evict() {
  if (closing_ > invited_.size()) return true;
  const RankId old = victim();
  if (old == state_.self) return false;
  close(old);
  return true;
}

// The same for a peer that wants a shortcut, but only after enough was relayed: where a rank talks
// to everybody in turn, closing one for the next would only cost.
bool Shortcuts::evict_for(RankId peer) {
  if (closing_ > invited_.size()) return true;
  const RankId old = victim();
  if (old == state_.self) return false;
  Link& to = state_.link(peer);
  if (state_.link(old).used > to.relayed_since && state_.options.patience > 1) {
    to.relayed = 1;
    to.relayed_since = ++state_.ticks;
  }
  // The asked side has counted fewer relayed frames than the asker, so half the patience is enough.
  if (to.relayed * 2 < state_.options.patience) return false;
  close(old);
  return true;
}

void Shortcuts::close(RankId peer) {
  Link& old = state_.link(peer);
  old.follow(LinkEvent::close);
  ++closing_;
  Head head;
  head.verb = Verb::close;
  head.number = old.out;
  state_.post(peer, head);
}

void Shortcuts::on_last(const Head& head, RankId peer) {
  Link& to = state_.link(peer);
  if (head.verb != Verb::keep) {
    to.last_in = LastFrame{head.number, head.verb == Verb::close};
    return;  // Answered when all before it has come.
  }
  if (to.state != Link::State::closing) return;
  to.follow(LinkEvent::keep);
  to.used = ++state_.ticks;
  --closing_;
  relays_.resume(peer);
  serve_invited();
}

// We agree unless something of ours is under way. If we had asked, too, that was our last frame,
// and the connection is closed.
void Shortcuts::answer_close(RankId peer) {
  Link& to = state_.link(peer);
  if (!to.last_in || to.in != to.last_in->number + 1) return;
  if (to.state == Link::State::closing) {
    if (!to.last_in->asks || state_.self < peer) ++state_.counts.evicted;
    close_now(peer);
    return;
  }
  if (to.state != Link::State::open) return;  // It is not open for us yet.
  to.last_in.reset();
  Head head;
  head.number = to.out;
  if (to.open_cookies > 0 || to.sticky || to.neighbour) {
    head.verb = Verb::keep;
    state_.post(peer, head);
    return;
  }
  head.verb = Verb::closed;
  to.follow(LinkEvent::leave);
  state_.post(peer, head, state_.add_pending(PendingSend::Kind::last_frame, peer, 0).id());
}

void Shortcuts::close_now(RankId peer) {
  Link& to = state_.link(peer);
  if (to.state == Link::State::closing) --closing_;
  state_.below.connections.disconnect(peer);
  note_held(-1);
  let_go(peer);
  to.follow(LinkEvent::closed);
  to.out = to.in = 0;
  to.last_in.reset();
  for (int i = 1; i < state_.below.rails.rail_count(peer); ++i) {
    state_.tell(Completion::Kind::rail_down, peer).rail = RailId(static_cast<std::uint32_t>(i));
  }
  if (std::exchange(to.wanted_meanwhile, false)) on_open_request(peer);
  serve_invited();
}

void Shortcuts::serve_invited() {
  while (!invited_.empty()) {
    const RankId peer = invited_.front();
    Link& to = state_.link(peer);
    if (reserve(peer)) {
      invited_.pop_front();
      relays_.send(peer, Control::agree);
      open(peer);
      continue;
    }
    if (closing_ >= invited_.size() || evict()) return;
    invited_.pop_front();
    to.follow(LinkEvent::decline);
    relays_.send(peer, Control::decline);
  }
}

void Shortcuts::forget(RankId rank, const Link& lost) {
  if (lost.state == Link::State::closing) --closing_;
  if (lost.state >= Link::State::open && state_.below.connections.needs_connection(rank)) {
    note_held(-1);
  }
  if (lost.counted) std::erase(shortcuts_, rank);
  std::erase(invited_, rank);
}

}  // namespace weft::conn
