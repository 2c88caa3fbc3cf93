// SPDX-License-Identifier: Apache-2.0
// What comes over a link, and what time brings.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/real/wire/link.hpp>

namespace weft::wire {

namespace {

// A rail on which nothing has been acknowledged for so long, while another one is up, is given up:
// the kernel would wait for ten times as long.
constexpr Duration stall_limit = Duration::ms(120);
constexpr Duration closing_limit = Duration::ms(1000);
// How long a call may take, before it is made anew: what was sent into a dead rail is sent again
// by the kernel after a second at the earliest. Long ways get their time in every fourth try.
Duration dial_limit(int failures) {
  return Duration::ms(250) * (1 + failures % 4);
}

}  // namespace

void Link::stir(RailId id, bool readable, Time now) {
  if (id.index >= rails_.size()) return;
  Rail& rail = rails_[id.index];
  if (rail.dial != nullptr) end_dial(id.index, now);
  if (rail.stream == nullptr) return;
  if (readable) readable_ |= std::uint64_t{1} << id.index;
  if (rail.stream->has_unsent() || rail.watched_out) pump(id.index);
}

bool Link::take_early(Completion& out) {
  while (!early_.empty() && early_.begin()->first == next_in_) {
    Early early = std::move(early_.begin()->second);
    early_.erase(early_.begin());
    ++next_in_;
    if (!take(early.record, early.data.get(), early.rail.index, out)) continue;
    if (early.record.kind == RecordKind::frame) {
      out.lent = nullptr;
      out.data = std::move(early.data);
    }
    return true;
  }
  return false;
}

// Its turn has come. true: `out` is for the message layer.
bool Link::take(const Record& record, const std::byte* data, std::uint32_t index, Completion& out) {
  const bool landed = record.kind == RecordKind::landed;
  if (record.kind != RecordKind::frame && !landed) {
    if (lanes_ != nullptr) lanes_->hear(record, data);
    return false;
  }
  if (landed && host_.regions().find(record.key, 0, 0).data == nullptr) return false;
  out = {};
  out.kind = landed ? Completion::Kind::written : Completion::Kind::frame;
  out.peer = peer_;
  out.rail = RailId(index);
  out.size = landed ? record.offset : record.size;
  out.head = record.head;
  out.lent = landed ? nullptr : data;
  return true;
}

bool Link::next(Completion& out) {
  if (take_early(out)) return true;
  while (readable_ != 0) {
    const auto index = static_cast<std::uint32_t>(__builtin_ctzll(readable_));
    const Rail& rail = rails_[index];
    if (rail.stream == nullptr) {
      readable_ &= readable_ - 1;
      continue;
    }
    Incoming in;
    switch (rail.stream->next(in, host_.regions())) {
      case Stream::Got::nothing:
        readable_ &= readable_ - 1;
        break;
      case Stream::Got::record:
        if (deliver(in, index, out)) return true;
        break;
      case Stream::Got::closed:
      case Stream::Got::broken:
        give_up(index, TcpEvent::broken, host_.now());
        close_when_down(host_.now());
        break;
    }
  }
  return false;
}

// true: `out` is for the message layer.
bool Link::deliver(Incoming& in, std::uint32_t index, Completion& out) {
  const Record& record = in.record;
  switch (record.kind) {
    case RecordKind::frame:
    case RecordKind::keys:
    case RecordKind::landed:
    case RecordKind::renewed: {
      if (record.sequence < next_in_ || early_.contains(record.sequence)) return false;  // Again.
      if (record.sequence == next_in_ && in.owned == nullptr) {
        ++next_in_;
        return take(record, in.lent, index, out) || take_early(out);
      }
      Early early{record, std::move(in.owned), RailId(index)};
      if (in.lent != nullptr) {
        early.data = std::make_unique_for_overwrite<std::byte[]>(record.size);
        std::memcpy(early.data.get(), in.lent, record.size);
      }
      early_.emplace(record.sequence, std::move(early));
      return take_early(out);
    }
    case RecordKind::ask:
    case RecordKind::answer:
      if (lanes_ != nullptr) lanes_->hear(record, nullptr);
      return false;
    case RecordKind::write:
      if (record.sequence != 0 && lanes_ != nullptr) lanes_->revoke(record.key, record.sequence);
      if (!in.kept) return false;  // The same has come another way.
      out = {};
      out.kind = Completion::Kind::written;
      out.peer = peer_;
      out.rail = RailId(index);
      out.size = record.size;
      out.head = record.head;
      return true;
    case RecordKind::rail_dead:
      if (record.offset < rails_.size() && rails_[record.offset].stream != nullptr &&
          rails_[record.offset].stream->facts().name == record.key) {
        give_up(static_cast<std::uint32_t>(record.offset), TcpEvent::reported_broken, host_.now());
      }
      return false;
    case RecordKind::goodbye:
      follow(LinkEvent::goodbye, host_.now());
      return false;
    case RecordKind::parting:
      follow(LinkEvent::peer_disconnect, host_.now());
      return false;
    case RecordKind::more:
      return false;  // Streams put writes together.
  }
  return false;
}

void Link::tend_stream(std::uint32_t index, Time now) {
  Rail& rail = rails_[index];
  if (rail.stream->has_unsent()) make_room(rail, now);
  if (rail.stream->has_unsent() || rail.watched_out) pump(index);
  rail.stream->settle(done_, now);
  if (!rail.stream->has_unacknowledged()) {
    // Not before both have asked: an earlier close would throw away the peer's last records.
    const bool late = closing() && now - closing_since_ > closing_limit;
    const bool may_close = state_ == LinkState::draining || late;
    if (may_close && !rail.stream->has_unsent()) give_up(index, TcpEvent::drained, now);
    return;
  }
  const bool others = std::count_if(rails_.begin(), rails_.end(),
                                    [](const Rail& other) { return other.stream != nullptr; }) > 1;
  // The last one is left to the kernel for longer; then a new call finds out sooner than the
  // kernel, which asks more and more rarely.
  const Duration limit = others ? stall_limit : setting_.lost_after / 2;
  if (now - rail.stream->progress() < limit) return;
  const Health health = health_of(rail.stream->socket());
  if (health.open && health.silent >= limit) give_up(index, TcpEvent::stalled, now);
}

void Link::tend_dial(std::uint32_t index, Time now) {
  const Rail& rail = rails_[index];
  if (rail.state == TcpState::connecting && now - rail.dial->since() > dial_limit(rail.failures)) {
    drop_dial(index, TcpEvent::timed_out);
  }
  // The peer's kernel has answered: its process is there, and answers when it calls the library.
  if (rail.state == TcpState::proving) all_down_since_ = now;
  if (rail.state == TcpState::down && state_ == LinkState::open && now >= rail.next_try) {
    begin_dial(index, now);
  }
}

void Link::tend(Time now) {
  if (state_ == LinkState::idle || state_ == LinkState::lost) return;
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].state == TcpState::up) {
      tend_stream(i, now);
    } else if (!closing()) {
      tend_dial(i, now);
    }
  }
  if (lanes_ != nullptr && any_up()) lanes_->tend(now);
  for (const std::uint64_t cookie : done_) {
    Completion sent;
    sent.kind = Completion::Kind::sent;
    sent.peer = peer_;
    sent.cookie = cookie;
    host_.tell(std::move(sent));
  }
  done_.clear();
  close_when_down(now);
  const bool dying = state_ == LinkState::dying;
  if (readable_ != 0 || any_up() || (!dying && state_ != LinkState::open)) return;
  // A peer that was reached before had been silent for half the time already when its last rail was
  // given up.
  const Duration limit = was_up_ ? setting_.lost_after / 2 : setting_.lost_after;
  if (dying || now - all_down_since_ > limit) follow(LinkEvent::unreachable, now);
}

void Link::say_goodbye() {
  cancel_dials();
  static_cast<void>(say(RecordKind::goodbye));
}

}  // namespace weft::wire
