// SPDX-License-Identifier: Apache-2.0
// Connections beside the neighbours': asked for over relays when something had to be relayed,
// closed when another needs the room. Both sides agree to open, and to close: a side's last frame
// says how many came before it, and the connection goes when both have seen everything.
#include <algorithm>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/conn/managed.hpp>

namespace weft::conn {

namespace {

constexpr std::uint32_t pause_first = 8, pause_most = 512;
constexpr std::uint32_t tries_most = 64;  // To open what no other way leads to.

}  // namespace

void Managed::note_held(int change) {
  held_ = static_cast<std::uint32_t>(static_cast<int>(held_) + change);
  counts_.held_most = std::max(counts_.held_most, held_);
}

void Managed::back_off(Link& link) {
  link.next_pause = std::clamp(link.next_pause * 2, pause_first, pause_most);
  link.pause = link.next_pause;
}

bool Managed::reserve(RankId peer) {
  if (shortcuts_.size() >= options_.shortcuts) return false;
  shortcuts_.push_back(peer);
  link(peer).counted = true;
  return true;
}

void Managed::let_go(RankId peer) {
  if (std::exchange(link(peer).counted, false)) std::erase(shortcuts_, peer);
}

void Managed::say(RankId peer, Wish wish) {
  SendWindow::Message message;
  message.wish = wish;
  send_relayed(peer, std::move(message));
}

void Managed::want(RankId peer) {
  Link& to = link(peer);
  if (to.state != State::none || to.answer_due || leaving_ || options_.shortcuts == 0 ||
      is_gone(peer))
    return;
  if (to.pause > 0) {
    --to.pause;
    return;
  }
  if (!reserve(peer)) {
    evict_for(peer);
    return;
  }
  to.state = State::asked;
  to.answer_due = true;
  say(peer, Wish::open);
}

void Managed::on_wish(Wish wish, RankId peer) {
  Link& to = link(peer);
  switch (wish) {
    case Wish::open:
      on_open(peer);
      break;
    case Wish::agree:
      to.answer_due = false;
      if (to.state == State::asked) open(peer);
      break;
    case Wish::decline:
      to.answer_due = false;
      if (to.state != State::asked) break;
      ++counts_.declined;
      to.state = State::none;
      let_go(peer);
      back_off(to);
      serve_invited();
      break;
    case Wish::rank_done:
    case Wish::group_done:
      on_done(wish, peer);
      break;
    case Wish::none:
      break;
  }
}

void Managed::on_open(RankId peer) {
  Link& to = link(peer);
  // Both at once: each takes the other's wish for a yes. The connection may have been quicker, and
  // have come and gone.
  if (std::exchange(to.answer_due, false)) {
    if (to.state == State::asked) open(peer);
    return;
  }
  switch (to.state) {
    case State::none:
      if (!leaving_ && reserve(peer)) {
        say(peer, Wish::agree);
        open(peer);
      } else if (!leaving_ && options_.shortcuts > 0 && evict_for(peer)) {
        to.state = State::invited;
        invited_.push_back(peer);
      } else {
        say(peer, Wish::decline);
      }
      break;
    case State::opening:
    case State::open:
      say(peer, Wish::agree);
      break;
    case State::closing:
    case State::leaving:
      to.wanted_meanwhile = true;
      break;
    case State::asked:
    case State::invited:
      break;
  }
}

void Managed::open(RankId peer) {
  link(peer).state = State::opening;
  below_.connections.connect(peer);
}

void Managed::opened(RankId peer) {
  Link& to = link(peer);
  if (to.state >= State::open || !below_.connections.needs_connection(peer)) return;
  if (to.state == State::invited) std::erase(invited_, peer);
  to.state = State::open;
  to.forced = false;
  to.next_pause = to.tries = to.relayed = 0;
  to.used = ++tick_;
  ++counts_.opened;
  note_held(1);
  if (options_.mode == Mode::managed && !to.neighbour && layout_.neighbours(self_, peer)) {
    to.neighbour = true;  // It had been refused.
    neighbours_.push_back(peer);
    let_go(peer);
  }
  if (!to.neighbour && options_.mode == Mode::managed) {
    ++counts_.shortcuts;
    if (!to.counted) {  // It was refused to us, and later not to the peer.
      to.counted = true;
      shortcuts_.push_back(peer);
      if (shortcuts_.size() > options_.shortcuts) evict();
    }
  }
  if (const auto held = std::move(to.held); held != nullptr) {
    for (const Held& one : *held) {
      if (one.is_write) {
        write_now(one.path, one.payload, one.place, one.head, one.cookie);
      } else {
        post_now(one.path, one.head, one.payload, one.stable && one.cookie != 0, one.cookie);
      }
    }
  }
  if (to.neighbour) {
    routes_.clear();
    tell_news(peer);
  }
  pump_link(peer);
  if (outgoing_.contains(peer.index)) pump(peer);
  if (to.last_in) answer_close(peer);
}

// No other way leads there: it is opened without asking, whatever the limit is.
void Managed::force(RankId peer) {
  Link& to = link(peer);
  if (to.state > State::asked || !below_.connections.needs_connection(peer)) return;
  if (to.state == State::invited) std::erase(invited_, peer);
  to.forced = true;
  open(peer);
}

bool Managed::try_again(RankId peer) {
  Link& to = link(peer);
  if (!std::exchange(to.forced, false)) return false;
  if (find_route(peer, relays_most).found) return false;
  if (++to.tries > tries_most) {
    unreachable_.push_back(peer);
  } else {
    force(peer);
  }
  return true;
}

// A neighbour that is none: everybody must know, and what waited for it goes over others.
void Managed::take_apart(RankId peer) {
  Link& to = link(peer);
  to.neighbour = false;
  std::erase(neighbours_, peer);
  if (to.trunk != nullptr) {
    for (auto& queue : to.trunk->queue) {
      for (Passing& one : queue) {
        say_dropped(one.head);
        release(one);
      }
    }
    to.trunk->queue = {};
  }
  part(self_, peer);
}

// No room for a connection.
void Managed::refused(RankId peer) {
  Link& to = link(peer);
  if (to.state != State::opening || is_gone(peer)) return;
  ++counts_.refused;
  to.state = State::none;
  evict();
  if (options_.mode != Mode::managed) {
    lose(peer, false);
    return;
  }
  if (try_again(peer)) return;
  back_off(to);
  let_go(peer);
  if (to.neighbour) take_apart(peer);
  if (to.trunk != nullptr) {
    const std::deque<std::uint32_t> waiting = std::exchange(to.trunk->waiting, {});
    to.trunk->waits.clear();
    for (const std::uint32_t target : waiting) pump(RankId(target));
  }
  if (const auto held = std::move(to.held); held != nullptr) {
    for (Held& one : *held) {
      if (one.is_write) {
        write(one.path, one.payload, one.place, one.head, one.cookie);
      } else {
        post(one.path, one.head, one.payload, one.stable, one.cookie);
      }
    }
  }
  serve_invited();
}

void Managed::note_relayed(RankId peer) {
  Link& to = link(peer);
  if (to.relayed++ == 0) to.relayed_since = ++tick_;
}

// The shortcut that gives way next; ourselves: none is idle.
RankId Managed::victim() {
  std::vector<RankId> idle;
  for (const RankId peer : shortcuts_) {
    if (is_idle(link(peer))) idle.push_back(peer);
  }
  if (idle.empty()) return self_;
  if (options_.replace == Replace::random) return idle[random_.next() % idle.size()];
  return *std::min_element(idle.begin(), idle.end(),
                           [&](RankId a, RankId b) { return link(a).used < link(b).used; });
}

// Makes room by closing a shortcut on which nothing of ours is under way; false: there is none.
bool Managed::evict() {
  if (closing_ > invited_.size()) return true;
  const RankId old = victim();
  if (old == self_) return false;
  close(old);
  return true;
}

// Where everybody is talked to in turn, closing one for the next would only cost.
bool Managed::evict_for(RankId peer) {
  if (closing_ > invited_.size()) return true;
  const RankId old = victim();
  if (old == self_) return false;
  Link& to = link(peer);
  if (link(old).used > to.relayed_since && options_.patience > 1) {
    to.relayed = 1;
    to.relayed_since = ++tick_;
  }
  // Who is asked has counted less, and is not the one who began.
  if (to.relayed * 2 < options_.patience) return false;
  close(old);
  return true;
}

void Managed::close(RankId peer) {
  Link& old = link(peer);
  old.state = State::closing;
  ++closing_;
  Head head;
  head.verb = Verb::close;
  head.number = old.out;
  post_link(peer, head);
}

void Managed::on_last(const Head& head, RankId peer) {
  Link& to = link(peer);
  if (head.verb != Verb::keep) {
    to.last_in = head.number;
    to.both_ask = head.verb == Verb::close;
    return;  // Answered when all before it has come.
  }
  if (to.state != State::closing) return;
  to.state = State::open;
  to.used = ++tick_;
  --closing_;
  if (outgoing_.contains(peer.index)) pump(peer);
  serve_invited();
}

// The peer has sent its last frame. Once all of its frames are here: yes, unless something of ours
// is under way. If we had asked too, that was our last one, and nothing more is to be said.
void Managed::answer_close(RankId peer) {
  Link& to = link(peer);
  if (!to.last_in || to.in != *to.last_in + 1) return;
  if (to.state == State::closing) {
    if (!to.both_ask || self_ < peer) ++counts_.evicted;
    close_now(peer);
    return;
  }
  if (to.state != State::open) return;  // It is not open for us yet.
  to.last_in.reset();
  Head head;
  head.number = to.out;
  if (to.open_cookies > 0 || to.sticky || to.neighbour) {
    head.verb = Verb::keep;
    post_link(peer, head);
    return;
  }
  head.verb = Verb::closed;
  to.state = State::leaving;
  post_link(peer, head, take_slot(Slot::Kind::last_frame, peer, 0));
}

void Managed::close_now(RankId peer) {
  Link& to = link(peer);
  if (to.state == State::closing) --closing_;
  below_.connections.disconnect(peer);
  note_held(-1);
  let_go(peer);
  to.state = State::none;
  to.out = to.in = 0;
  to.last_in.reset();
  for (int i = 1; i < below_.rails.rail_count(peer); ++i) {
    tell(Completion::Kind::rail_down, peer);
    ready_.back().completion.rail = RailId(static_cast<std::uint32_t>(i));
  }
  if (std::exchange(to.wanted_meanwhile, false)) on_open(peer);
  serve_invited();
}

// Room for who wants a shortcut with us; or none, and nobody who would make it.
void Managed::serve_invited() {
  while (!invited_.empty()) {
    const RankId peer = invited_.front();
    Link& to = link(peer);
    if (reserve(peer)) {
      invited_.pop_front();
      say(peer, Wish::agree);
      open(peer);
      continue;
    }
    if (closing_ >= invited_.size() || evict()) return;
    invited_.pop_front();
    to.state = State::none;
    say(peer, Wish::decline);
  }
}

}  // namespace weft::conn
