// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include <weft/message/conn/managed.hpp>

namespace weft::conn {

namespace {

std::unique_ptr<std::byte[]> copy_of(Payload payload) {
  if (payload.data == nullptr || payload.size == 0) return nullptr;
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(payload.size);
  std::memcpy(bytes.get(), payload.data, payload.size);
  return bytes;
}

}  // namespace

Managed::Managed(const Fabric& below, const Layout& layout, const Options& options)
    : state_(below, layout, options),
      // After a change of route later frames may arrive first.
      fabric_{.self = below.self,
              .ranks = below.ranks,
              .first = below.first,
              .ordered = options.mode != Mode::managed && below.ordered,
              .carries_data = below.carries_data,
              .transport = *this,
              .connections = *this,
              .rails = *this,
              .processor = below.processor,
              .observer = below.observer},
      neighbours_(state_),
      relays_(state_, neighbours_, *this),
      shortcuts_(state_, neighbours_, relays_, *this),
      departure_(state_, relays_) {
  for (const RankId peer : neighbours_.all()) {
    if (!needs_connection(peer)) {
      state_.link(peer).follow(LinkEvent::opened);
      continue;
    }
    ++state_.counts.neighbours;
    shortcuts_.open(peer);
  }
}

void Managed::connect(RankId peer) {
  if (is_stranger(peer)) {
    state_.below.connections.connect(peer);
  } else if (connected(peer)) {
    state_.tell(Completion::Kind::rail_up, peer);
  } else if (state_.options.mode == Mode::managed) {
    shortcuts_.want(peer);
  } else {
    carriage_to(peer);
  }
}

// Relays have one rail.
RailFacts Managed::rail_facts(RankId peer, RailId rail) const {
  RailFacts facts = state_.below.rails.rail_facts(peer, rail);
  if (!connected(peer)) facts.up = rail.index == 0;
  return facts;
}

void Managed::lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const {
  if (connected(peer)) state_.below.rails.lower_rates(peer, data, rates);
}

Managed::Carriage Managed::carriage_to(RankId peer) {
  if (!needs_connection(peer)) return Carriage::directly;
  const bool managed = state_.options.mode == Mode::managed;
  const Link& to = state_.link(peer);
  if (to.state == Link::State::open) return Carriage::directly;
  if (to.being_opened() && (to.neighbour || !managed)) return Carriage::when_open;
  if (managed) return Carriage::by_relays;
  shortcuts_.open(peer);
  return Carriage::when_open;
}

void Managed::post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                   std::uint64_t cookie) {
  if (is_stranger(path.peer))
    return state_.below.transport.post(path, head, payload, stable, cookie);
  if (state_.is_gone(path.peer)) return;
  switch (carriage_to(path.peer)) {
    case Carriage::directly:
      post_now(path, head, payload, stable, cookie);
      break;
    case Carriage::when_open:
      hold({false, stable, path, head, payload, {}, cookie, nullptr});
      break;
    case Carriage::by_relays: {
      SendWindow::Message message;
      message.inner = head;
      message.data = payload;
      if (!stable && (message.own = copy_of(payload)) != nullptr) {
        message.data.data = message.own.get();
      }
      message.cookie = cookie;
      message.urgent = cookie != 0;
      send_by_relays(path.peer, std::move(message));
    }
  }
}

void Managed::write(const SendPath& path, Payload payload, RemoteMemory target,
                    const FrameHead& notice, std::uint64_t cookie) {
  if (is_stranger(path.peer))
    return state_.below.transport.write(path, payload, target, notice, cookie);
  if (state_.is_gone(path.peer)) return;
  switch (carriage_to(path.peer)) {
    case Carriage::directly:
      write_now(path, payload, target, notice, cookie);
      break;
    case Carriage::when_open:
      hold({true, true, path, notice, payload, target, cookie, nullptr});
      break;
    case Carriage::by_relays: {
      SendWindow::Message message;
      message.inner = notice;
      message.data = payload;
      message.is_write = true;
      message.place = target;
      message.cookie = cookie;
      message.urgent = true;
      send_by_relays(path.peer, std::move(message));
    }
  }
}

void Managed::send_by_relays(RankId peer, SendWindow::Message&& message) {
  relays_.send(peer, std::move(message));
  shortcuts_.note_relayed(peer);
  shortcuts_.want(peer);
}

void Managed::hold(WaitingFrame&& frame) {
  if (!frame.stable && (frame.own = copy_of(frame.payload)) != nullptr) {
    frame.payload.data = frame.own.get();
  }
  Link& to = state_.link(frame.path.peer);
  if (to.waiting_frames == nullptr)
    to.waiting_frames = std::make_unique<std::deque<WaitingFrame>>();
  to.waiting_frames->push_back(std::move(frame));
}

void Managed::post_now(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                       std::uint64_t cookie) {
  if (path.peer != state_.self) state_.use(state_.link(path.peer));
  const std::uint64_t id =
      cookie == 0 ? 0 : state_.add_pending(PendingSend::Kind::user, path.peer, cookie).id();
  state_.below.transport.post(path, head, payload, stable, id);
}

void Managed::write_now(const SendPath& path, Payload payload, RemoteMemory target,
                        const FrameHead& notice, std::uint64_t cookie) {
  if (path.peer != state_.self) state_.use(state_.link(path.peer));
  const PendingSend& pending = state_.add_pending(PendingSend::Kind::user, path.peer, cookie);
  state_.below.transport.write(path, payload, target, notice, pending.id());
}

// Only what goes directly: nothing may be missing in the middle of what is relayed.
bool Managed::take_back(RankId peer, std::uint64_t cookie) {
  if (is_stranger(peer)) return state_.below.transport.take_back(peer, cookie);
  for (PendingSend& pending : state_.pending) {
    if (pending.kind != PendingSend::Kind::user || pending.peer != peer ||
        pending.cookie != cookie) {
      continue;
    }
    if (!state_.below.transport.take_back(peer, pending.id())) return false;
    if (peer != state_.self) state_.link(peer).sticky = true;  // It may arrive or not.
    state_.free_pending(pending);
    return true;
  }
  return false;
}

std::uint64_t Managed::register_memory(RankId peer, std::byte* data, std::size_t size) {
  const std::uint64_t key = state_.below.transport.register_memory(peer, data, size);
  if (state_.options.mode == Mode::managed && !is_stranger(peer))
    relays_.add_region(key, peer, data, size);
  return key;
}

void Managed::deregister_memory(std::uint64_t key) {
  state_.below.transport.deregister_memory(key);
  relays_.remove_region(key);
}

void Managed::lose_unreachable() {
  while (!state_.unreachable.empty()) {
    const RankId rank = state_.unreachable.back();
    state_.unreachable.pop_back();
    lose(rank, false);
  }
}

bool Managed::poll(Completion& out) {
  lent_.reset();
  for (;;) {
    lose_unreachable();
    if (!state_.ready.empty()) {
      lent_ = std::move(state_.ready.front().keep);
      out = std::move(state_.ready.front().completion);
      state_.ready.pop_front();
      return true;
    }
    in_.lent = nullptr;
    in_.data.reset();
    if (!state_.below.transport.poll(in_)) {
      // After two polls in vain, no frame of ours is about to carry the acknowledgements.
      if (std::exchange(idle_once_, true)) relays_.acknowledge_all();
      if (state_.ready.empty() && state_.unreachable.empty()) return false;
      continue;
    }
    idle_once_ = false;
    if (pass_up(in_, out)) return true;
    handle(in_);
  }
}

bool Managed::serve(std::size_t most) {
  Completion arrived;
  for (std::size_t i = 0; i < most; ++i) {
    lose_unreachable();
    in_.lent = nullptr;
    in_.data.reset();
    if (!state_.below.transport.poll(in_)) {
      relays_.acknowledge_all();
      return false;
    }
    if (pass_up(in_, arrived)) {
      keep_for_later(std::move(arrived));
    } else {
      handle(in_);
    }
  }
  return true;
}

// What the network lends it takes back at the next poll.
void Managed::keep_for_later(Completion&& arrived) {
  if (arrived.lent != nullptr) {
    arrived.data = copy_of({arrived.lent, arrived.size});
    arrived.lent = nullptr;
  }
  state_.ready.push_back({std::move(arrived), nullptr});
}

void Managed::wait(Time until) {
  relays_.acknowledge_all();
  if (state_.ready.empty() && state_.unreachable.empty()) state_.below.transport.wait(until);
}

// A frame or write that came directly, for the layer above.
bool Managed::pass_up(Completion& in, Completion& out) {
  if (is_stranger(in.peer)) {
    out = std::move(in);
    return true;
  }
  const bool arrived = in.kind == Completion::Kind::frame || in.kind == Completion::Kind::written;
  if (!arrived || is_own(in.head) || state_.is_gone(in.peer)) return false;
  if (in.peer != state_.self) {
    Link& from = state_.link(in.peer);
    ++from.in;
    from.used = ++state_.ticks;
    shortcuts_.opened(in.peer);  // In case the network has not told us yet.
    if (from.last_in) shortcuts_.answer_close(in.peer);
  }
  out = std::move(in);
  return true;
}

void Managed::handle(Completion& in) {
  switch (in.kind) {
    case Completion::Kind::frame:
    case Completion::Kind::written:
      if (!state_.is_gone(in.peer)) on_own_frame(decode(in.head), in);
      break;
    case Completion::Kind::sent:
    case Completion::Kind::unsent:
      on_left(in);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down:
      if (state_.is_gone(in.peer)) break;
      state_.tell(in.kind, in.peer).rail = in.rail;
      if (in.kind == Completion::Kind::rail_up) shortcuts_.opened(in.peer);
      break;
    case Completion::Kind::peer_lost:
      lose(in.peer);
      break;
    case Completion::Kind::refused:
      shortcuts_.refused(in.peer);
      break;
  }
}

void Managed::on_own_frame(const Head& head, Completion& in) {
  Link& from = state_.link(in.peer);
  const std::uint32_t ranks = state_.below.ranks;
  ++from.in;
  shortcuts_.opened(in.peer);  // In case the network has not told us yet.
  switch (head.verb) {
    case Verb::chunk:
    case Verb::ack:
      from.used = ++state_.ticks;
      if (head.source < ranks && head.target < ranks) relays_.on_chunk(head, in);
      break;
    case Verb::dropped:
      if (head.target < ranks && head.key < ranks) relays_.on_dropped(head);
      break;
    case Verb::credit:
      relays_.on_credit(head, in.peer);
      break;
    case Verb::close:
    case Verb::closed:
    case Verb::keep:
      shortcuts_.on_last(head, in.peer);
      break;
    case Verb::gone:
      if (head.source < ranks) lose(RankId(head.source));
      break;
    case Verb::apart:
      if (head.source < ranks && head.target < ranks) {
        separate(RankId(head.source), RankId(head.target));
      }
      break;
    case Verb::all_done:
      departure_.all_done(head, in.peer);
      break;
  }
  if (!state_.is_gone(in.peer) && state_.link(in.peer).last_in) shortcuts_.answer_close(in.peer);
}

void Managed::on_left(const Completion& in) {
  PendingSend* const pending = state_.find_pending(in.cookie);
  if (pending == nullptr) return;
  const RankId peer = pending->peer;
  const PendingSend::Kind kind = pending->kind;
  if (kind == PendingSend::Kind::user) {
    state_.tell(in.kind, peer, pending->cookie).rail = in.rail;
    if (in.kind == Completion::Kind::unsent && peer != state_.self) state_.link(peer).sticky = true;
  } else if (kind == PendingSend::Kind::transit) {
    relays_.release(pending->transit);
  }
  state_.free_pending(*pending);
  if (kind == PendingSend::Kind::last_frame) {
    shortcuts_.close_now(peer);
  } else if (peer != state_.self && state_.link(peer).last_in) {
    shortcuts_.answer_close(peer);
  }
}

void Managed::heard(Control control, RankId source) {
  if (control == Control::rank_done || control == Control::group_done) {
    departure_.hear(control, source);
  } else {
    shortcuts_.hear(control, source);
  }
}

void Managed::link_opened(RankId peer) {
  Link& to = state_.link(peer);
  if (const auto frames = std::move(to.waiting_frames); frames != nullptr) {
    for (const WaitingFrame& one : *frames) {
      if (one.is_write) {
        write_now(one.path, one.payload, one.place, one.head, one.cookie);
      } else {
        post_now(one.path, one.head, one.payload, one.stable && one.cookie != 0, one.cookie);
      }
    }
  }
  if (to.neighbour) {
    neighbours_.forget_routes();
    neighbours_.inform(peer);
  }
  relays_.resume_link(peer);
  relays_.resume(peer);
}

void Managed::link_refused(RankId peer) {
  Link& to = state_.link(peer);
  if (to.neighbour) {
    neighbours_.remove(peer);
    relays_.drop_transit(peer);
    separate(state_.self, peer);
  }
  relays_.give_up_link(peer);
  if (const auto frames = std::move(to.waiting_frames); frames != nullptr) {
    for (const WaitingFrame& one : *frames) {
      if (one.is_write) {
        write(one.path, one.payload, one.place, one.head, one.cookie);
      } else {
        post(one.path, one.head, one.payload, one.stable, one.cookie);
      }
    }
  }
}

void Managed::separate(RankId a, RankId b) {
  if (neighbours_.separate(a, b)) relays_.repeat_all();
}

// No rank can reach this one any more, or we cannot. What went over it takes another route.
void Managed::lose(RankId rank, bool tells_others) {
  if (rank == state_.self || !state_.gone.insert(rank.index).second) return;
  state_.tell(Completion::Kind::peer_lost, rank);
  for (PendingSend& pending : state_.pending) {
    if (pending.kind == PendingSend::Kind::free || pending.peer != rank) continue;
    if (pending.kind == PendingSend::Kind::transit) relays_.release(pending.transit);
    state_.free_pending(pending);
  }
  Link lost = std::exchange(state_.link(rank), {});
  shortcuts_.forget(rank, lost);
  relays_.forget(rank, std::move(lost));
  Head news;
  news.verb = Verb::gone;
  news.source = rank.index;
  if (tells_others) state_.spread(news, rank);
  departure_.report_again();
  relays_.repeat_all();
  shortcuts_.serve_invited();
}

bool Managed::holds_frames() const {
  return std::any_of(state_.links.begin(), state_.links.end(),
                     [](const auto& one) { return one.second.waiting_frames != nullptr; });
}

void Managed::leave() {
  state_.leaving = true;
  Completion ignored;
  // No rank is a relay; but the last frames may wait for their connections.
  while (state_.options.mode != Mode::managed && holds_frames()) {
    while (poll(ignored)) {
    }
    if (holds_frames()) wait(Time::never());
  }
  while (state_.options.mode == Mode::managed && !departure_.is_all_done()) {
    while (poll(ignored)) {
    }
    relays_.acknowledge_all();
    if (!departure_.reported() && relays_.drained()) departure_.report();
    if (!departure_.is_all_done()) wait(Time::never());
  }
}

}  // namespace weft::conn
