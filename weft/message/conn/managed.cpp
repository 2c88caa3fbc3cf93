// SPDX-License-Identifier: Apache-2.0
// What the layer above asks for, and what the network below tells.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>
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
    : below_(below),
      // After a change of route later frames may arrive first.
      fabric_{.self = below.self,
              .ranks = below.ranks,
              .ordered = options.mode != Mode::managed && below.ordered,
              .carries_data = below.carries_data,
              .transport = *this,
              .connections = *this,
              .rails = *this,
              .processor = below.processor,
              .observer = below.observer},
      layout_(layout),
      options_(options),
      self_(below.self),
      random_(Rng(options.seed).stream("shortcuts", below.self.index)) {
  start();
}

Managed::~Managed() = default;

void Managed::start() {
  if (options_.mode == Mode::managed) {
    neighbours_ = layout_.neighbours_of(self_);
  } else if (options_.mode == Mode::full) {
    for (std::uint32_t r = 0; r < below_.ranks; ++r) {
      if (RankId(r) != self_) neighbours_.emplace_back(r);
    }
  }
  for (const RankId peer : neighbours_) {
    Link& to = link(peer);
    to.neighbour = true;
    if (!below_.connections.needs_connection(peer)) {
      to.state = State::open;
      continue;
    }
    ++counts_.neighbours;
    open(peer);
  }
}

const Link* Managed::find(RankId peer) const {
  const auto found = links_.find(peer.index);
  return found == links_.end() ? nullptr : &found->second;
}

bool Managed::connected(RankId peer) const {
  if (!below_.connections.needs_connection(peer)) return true;
  const Link* const to = find(peer);
  return to != nullptr && to->up();
}

void Managed::connect(RankId peer) {
  if (connected(peer)) {
    tell(Completion::Kind::rail_up, peer);
  } else if (options_.mode == Mode::managed) {
    want(peer);
  } else {
    passage_to(peer);
  }
}

// Relays have one rail.
RailFacts Managed::rail_facts(RankId peer, RailId rail) const {
  RailFacts facts = below_.rails.rail_facts(peer, rail);
  if (!connected(peer)) facts.up = rail.index == 0;
  return facts;
}

void Managed::lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const {
  if (connected(peer)) below_.rails.lower_rates(peer, data, rates);
}

Managed::Passage Managed::passage_to(RankId peer) {
  if (!below_.connections.needs_connection(peer)) return Passage::now;
  Link& to = link(peer);
  if (to.state == State::open) return Passage::now;
  if (to.state == State::opening && (to.neighbour || options_.mode != Mode::managed)) {
    return Passage::soon;
  }
  if (options_.mode == Mode::managed) return Passage::relayed;
  open(peer);
  return Passage::soon;
}

void Managed::post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                   std::uint64_t cookie) {
  if (is_gone(path.peer)) return;
  switch (passage_to(path.peer)) {
    case Passage::now:
      post_now(path, head, payload, stable, cookie);
      break;
    case Passage::soon:
      hold({false, stable, path, head, payload, {}, cookie, nullptr});
      break;
    case Passage::relayed: {
      SendWindow::Message message;
      message.inner = head;
      message.data = payload;
      if (!stable && (message.own = copy_of(payload)) != nullptr) {
        message.data.data = message.own.get();
      }
      message.cookie = cookie;
      message.urgent = cookie != 0;
      send_relayed(path.peer, std::move(message));
      note_relayed(path.peer);
      want(path.peer);
    }
  }
}

void Managed::write(const SendPath& path, Payload payload, RemoteMemory target,
                    const FrameHead& notice, std::uint64_t cookie) {
  if (is_gone(path.peer)) return;
  switch (passage_to(path.peer)) {
    case Passage::now:
      write_now(path, payload, target, notice, cookie);
      break;
    case Passage::soon:
      hold({true, true, path, notice, payload, target, cookie, nullptr});
      break;
    case Passage::relayed: {
      SendWindow::Message message;
      message.inner = notice;
      message.data = payload;
      message.is_write = true;
      message.place = target;
      message.cookie = cookie;
      message.urgent = true;
      send_relayed(path.peer, std::move(message));
      note_relayed(path.peer);
      want(path.peer);
    }
  }
}

void Managed::hold(Held&& held) {
  if (!held.stable && (held.own = copy_of(held.payload)) != nullptr) {
    held.payload.data = held.own.get();
  }
  Link& to = link(held.path.peer);
  if (to.held == nullptr) to.held = std::make_unique<std::deque<Held>>();
  to.held->push_back(std::move(held));
}

void Managed::post_now(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                       std::uint64_t cookie) {
  if (path.peer != self_) {
    Link& to = link(path.peer);
    ++to.out;
    to.used = ++tick_;
  }
  const std::uint64_t slot = cookie == 0 ? 0 : take_slot(Slot::Kind::user, path.peer, cookie);
  below_.transport.post(path, head, payload, stable, slot);
}

void Managed::write_now(const SendPath& path, Payload payload, RemoteMemory target,
                        const FrameHead& notice, std::uint64_t cookie) {
  if (path.peer != self_) {
    Link& to = link(path.peer);
    ++to.out;
    to.used = ++tick_;
  }
  below_.transport.write(path, payload, target, notice,
                         take_slot(Slot::Kind::user, path.peer, cookie));
}

// Only of those that go straight: what is relayed must not be missing in the middle.
bool Managed::take_back(RankId peer, std::uint64_t cookie) {
  for (Slot& slot : slots_) {
    if (slot.kind != Slot::Kind::user || slot.peer != peer || slot.cookie != cookie) continue;
    const std::uint64_t id = (std::uint64_t{slot.generation} << 32) | (slot.index + 1);
    if (!below_.transport.take_back(peer, id)) return false;
    if (peer != self_) link(peer).sticky = true;  // It may arrive or not.
    free_slot(slot);
    return true;
  }
  return false;
}

std::uint64_t Managed::take_slot(Slot::Kind kind, RankId peer, std::uint64_t cookie) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().index = free_slots_.back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  slot.kind = kind;
  slot.peer = peer;
  slot.cookie = cookie;
  if (kind != Slot::Kind::last_frame && peer != self_) ++link(peer).open_cookies;
  return (std::uint64_t{slot.generation} << 32) | (index + 1);
}

Managed::Slot* Managed::find_slot(std::uint64_t cookie) {
  const std::uint64_t index = (cookie & 0xffffffffu) - 1;
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  const bool same = slot.generation == cookie >> 32 && slot.kind != Slot::Kind::free;
  return same ? &slot : nullptr;
}

void Managed::free_slot(Slot& slot) {
  if (slot.kind != Slot::Kind::last_frame && slot.peer != self_) --link(slot.peer).open_cookies;
  slot.kind = Slot::Kind::free;
  slot.passing = {};
  ++slot.generation;
  free_slots_.push_back(slot.index);
}

std::uint64_t Managed::register_memory(RankId peer, std::byte* data, std::size_t size) {
  const std::uint64_t key = below_.transport.register_memory(peer, data, size);
  if (options_.mode == Mode::managed) regions_.emplace(key, Region{peer, data, size});
  return key;
}

void Managed::deregister_memory(std::uint64_t key) {
  below_.transport.deregister_memory(key);
  const auto found = regions_.find(key);
  if (found != regions_.end()) regions_.erase(found);
}

void Managed::tell(Completion::Kind kind, RankId peer, std::uint64_t cookie) {
  Ready told;
  told.completion.kind = kind;
  told.completion.peer = peer;
  told.completion.cookie = cookie;
  ready_.push_back(std::move(told));
}

bool Managed::poll(Completion& out) {
  lent_.reset();
  for (;;) {
    while (!unreachable_.empty()) {
      const RankId rank = unreachable_.back();
      unreachable_.pop_back();
      lose(rank, false);
    }
    if (!ready_.empty()) {
      lent_ = std::move(ready_.front().keep);
      out = std::move(ready_.front().completion);
      ready_.pop_front();
      return true;
    }
    in_.lent = nullptr;
    in_.data.reset();
    if (!below_.transport.poll(in_)) {
      // Who asks twice in vain has nothing to send that could carry an acknowledgement.
      settle_acks(std::exchange(idle_once_, true));
      if (ready_.empty() && unreachable_.empty()) return false;
      continue;
    }
    idle_once_ = false;
    if (pass_on(in_, out)) return true;
    handle(in_);
  }
}

void Managed::wait(Time until) {
  settle_acks(true);
  if (ready_.empty() && unreachable_.empty()) below_.transport.wait(until);
}

// What came straight for the layer above.
bool Managed::pass_on(Completion& in, Completion& out) {
  const bool arrived = in.kind == Completion::Kind::frame || in.kind == Completion::Kind::written;
  if (!arrived || is_own(in.head) || is_gone(in.peer)) return false;
  if (in.peer != self_) {
    Link& from = link(in.peer);
    ++from.in;
    from.used = ++tick_;
    opened(in.peer);  // If nobody has told us yet.
    if (from.last_in) answer_close(in.peer);
  }
  out = std::move(in);
  return true;
}

void Managed::handle(Completion& in) {
  switch (in.kind) {
    case Completion::Kind::frame:
    case Completion::Kind::written:
      if (!is_gone(in.peer)) on_own(decode(in.head), in);
      break;
    case Completion::Kind::sent:
    case Completion::Kind::unsent:
      left_network(in);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down: {
      if (is_gone(in.peer)) break;
      tell(in.kind, in.peer);
      ready_.back().completion.rail = in.rail;
      if (in.kind == Completion::Kind::rail_up) opened(in.peer);
      break;
    }
    case Completion::Kind::peer_lost:
      lose(in.peer);
      break;
    case Completion::Kind::refused:
      refused(in.peer);
      break;
  }
}

void Managed::left_network(Completion& in) {
  Slot* const slot = find_slot(in.cookie);
  if (slot == nullptr) return;
  const RankId peer = slot->peer;
  const Slot::Kind kind = slot->kind;
  if (kind == Slot::Kind::user) {
    tell(in.kind, peer, slot->cookie);
    ready_.back().completion.rail = in.rail;
    if (in.kind == Completion::Kind::unsent && peer != self_) link(peer).sticky = true;
  } else if (kind == Slot::Kind::passing) {
    release(slot->passing);
  }
  free_slot(*slot);
  if (kind == Slot::Kind::last_frame) {
    close_now(peer);
  } else if (peer != self_ && link(peer).last_in) {
    answer_close(peer);
  }
}

}  // namespace weft::conn
