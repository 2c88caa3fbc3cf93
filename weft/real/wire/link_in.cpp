// SPDX-License-Identifier: Apache-2.0
// What comes over a link, put into order, and what time brings.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/real/wire/link.hpp>

namespace weft::wire {

void Link::stir(RailId id, bool is_readable, Time now) {
  if (id.index < rails_.size()) rails_[id.index]->stir(is_readable, now);
}

bool Link::next(Completion& out) {
  if (take_early(out)) return true;
  while (readable_ != 0) {
    LinkRail& rail = *rails_[static_cast<std::uint32_t>(__builtin_ctzll(readable_))];
    Arrival arrival;
    if (rail.poll(out, arrival)) {
      if (deliver(out, arrival)) return true;
      continue;
    }
    readable_ &= ~bit(rail.index());
    close_when_down(host_.now());
  }
  return false;
}

// true: `out` is for the message layer.
bool Link::deliver(Completion& out, const Arrival& arrival) {
  const Record& record = arrival.record;
  switch (record.kind) {
    case RecordKind::frame:
    case RecordKind::keys:
    case RecordKind::landed:
    case RecordKind::renewed: {
      const bool repeated = record.sequence < next_in_ || early_.contains(record.sequence);
      if (repeated) return false;
      if (record.sequence == next_in_) {
        ++next_in_;
        return take(record, out) || take_early(out);
      }
      Early early{record, std::move(out.data), out.rail};
      if (out.lent != nullptr) {
        early.data = std::make_unique_for_overwrite<std::byte[]>(record.size);
        std::memcpy(early.data.get(), out.lent, record.size);
      }
      early_.emplace(record.sequence, std::move(early));
      return false;
    }
    case RecordKind::ask:
    case RecordKind::answer:
      for (const auto& rail : rails_) rail->hear(record, nullptr);
      return false;
    case RecordKind::write:
      if (record.sequence != 0) {
        for (const auto& rail : rails_) rail->revoke(record.key, record.sequence);
      }
      return arrival.kept;  // Else the same has come another way.
    case RecordKind::rail_dead:
      if (record.offset < rails_.size()) {
        rails_[record.offset]->reported_broken({record.key, record.sequence}, host_.now());
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

bool Link::take_early(Completion& out) {
  while (!early_.empty() && early_.begin()->first == next_in_) {
    Early early = std::move(early_.begin()->second);
    early_.erase(early_.begin());
    ++next_in_;
    out = {};
    out.peer = peer_;
    out.rail = early.rail;
    out.size = early.record.size;
    out.head = early.record.head;
    out.data = std::move(early.data);
    if (take(early.record, out)) return true;
  }
  return false;
}

// It is this record's turn. `out` has its data; true: it is for the message layer.
bool Link::take(const Record& record, Completion& out) {
  if (record.kind == RecordKind::frame) return true;
  if (record.kind == RecordKind::landed) {
    out.kind = Completion::Kind::written;
    out.size = record.offset;
    return host_.regions().find(record.key, 0, 0).data != nullptr;
  }
  const std::byte* const data = out.lent != nullptr ? out.lent : out.data.get();
  for (const auto& rail : rails_) rail->hear(record, data);
  return false;
}

void Link::tend(Time now) {
  for (const auto& rail : rails_) {
    if (state_ == LinkState::idle || state_ == LinkState::lost) return;
    if (rail->carries_frames() || any_up()) rail->tend(now);
  }
  close_when_down(now);
  const bool dying = state_ == LinkState::dying;
  if (readable_ != 0 || any_up() || (!dying && state_ != LinkState::open)) return;
  // A peer that was reached before had been silent for half the time already when its last rail was
  // given up.
  const Duration limit = was_up_ ? lost_after_ / 2 : lost_after_;
  if (dying || now - all_down_since_ > limit) follow(LinkEvent::unreachable, now);
}

}  // namespace weft::wire
