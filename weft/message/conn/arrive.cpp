// SPDX-License-Identifier: Apache-2.0
// Frames of our own kind: what came over relays, credit, and news of who is lost.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/conn/managed.hpp>

namespace weft::conn {

void Managed::on_own(const Head& head, Completion& in) {
  Link& from = link(in.peer);
  ++from.in;
  opened(in.peer);  // If nobody has told us yet.
  switch (head.verb) {
    case Verb::chunk:
    case Verb::ack:
      from.used = ++tick_;
      if (head.source < below_.ranks && head.target < below_.ranks) on_chunk(head, in);
      break;
    case Verb::dropped:
      if (head.target < below_.ranks && head.key < below_.ranks) on_dropped(head);
      break;
    case Verb::credit:
      on_credit(head, in.peer);
      break;
    case Verb::close:
    case Verb::closed:
    case Verb::keep:
      on_last(head, in.peer);
      break;
    case Verb::gone:
      if (head.source < below_.ranks) lose(RankId(head.source));
      break;
    case Verb::apart:
      if (head.source < below_.ranks && head.target < below_.ranks) {
        part(RankId(head.source), RankId(head.target));
      }
      break;
    case Verb::all_done:
      if (!std::exchange(all_done_, true)) spread(head, in.peer);
      break;
  }
  if (!is_gone(in.peer) && link(in.peer).last_in) answer_close(in.peer);
}

void Managed::on_credit(const Head& head, RankId peer) {
  Link::Trunk& lines = link(peer).lines();
  const std::uint64_t back[] = {0, head.total, head.offset, head.key};
  for (std::size_t left = 1; left <= relays_most; ++left) {
    lines.used[left] -= std::min<std::size_t>(lines.used[left], back[left]);
  }
  pump_link(peer);
}

void Managed::on_chunk(const Head& head, Completion& in) {
  const RankId source(head.source);
  Packet packet = Packet::take(in, head.has_data);
  if (RankId(head.target) != self_) {
    pass({head, std::move(packet), in.peer, head.left});
    return;
  }
  if (is_gone(source)) return;
  take_ack(source, head.ack);
  if (head.verb == Verb::ack || packet.size < sizeof(FrameHead)) return;
  ReceiveWindow& window = incoming_[source.index];
  if (!window.accept(head.number)) {
    window.ack_due = true;  // It has not heard of the first time.
    pump(source);
    return;
  }
  const std::size_t size = packet.data_size();
  if (head.wish == Wish::none && head.offset == 0) note_relayed(source);
  take_chunk(head, std::move(packet), window);
  note_owed(head, size, window);
  hear_wishes(source, window);
}

void Managed::take_ack(RankId from, std::uint32_t number) {
  const auto window = outgoing_.find(from.index);
  if (window == outgoing_.end()) return;
  const auto through = window->second.acknowledged(number, options_.chunk);
  for (const SendWindow::Message& message : through) {
    if (message.cookie != 0) tell(Completion::Kind::sent, from, message.cookie);
  }
  pump(from);
}

void Managed::note_owed(const Head& head, std::size_t size, ReceiveWindow& from) {
  ++from.owed_frames;
  from.owed_bytes += size;
  if (head.urgent || from.owed_frames * 4 >= options_.pair_frames ||
      from.owed_bytes * 4 >= options_.pair_window) {
    from.ack_due = true;
    pump(RankId(head.source));
  } else {
    owing_.insert(head.source);
  }
}

void Managed::settle_acks(bool all) {
  if (!all || owing_.empty()) return;
  const std::vector<std::uint32_t> sources(owing_.begin(), owing_.end());
  owing_.clear();
  for (const std::uint32_t source : sources) {
    incoming_[source].ack_due = true;
    pump(RankId(source));
  }
}

void Managed::take_chunk(const Head& head, Packet&& packet, ReceiveWindow& from) {
  if (head.wish != Wish::none) {
    from.hold(head.number, head.wish);
  } else if (head.offset > head.total || packet.data_size() > head.total - head.offset) {
    return;
  } else if (head.is_write) {
    take_write(head, packet, from);
  } else {
    take_frame(head, std::move(packet), from);
  }
}

void Managed::take_frame(const Head& head, Packet&& packet, ReceiveWindow& from) {
  Ready ready;
  Completion& frame = ready.completion;
  frame.kind = Completion::Kind::frame;
  frame.peer = RankId(head.source);
  frame.size = head.total;
  frame.head = packet.inner();
  const std::size_t size = packet.data_size();
  if (size == head.total) {
    if (head.has_data && size > 0) frame.lent = packet.data();
    ready.keep = std::move(packet.bytes);
    ready_.push_back(std::move(ready));
    return;
  }
  const std::uint32_t first =
      head.number - static_cast<std::uint32_t>(head.offset / options_.chunk);
  auto [entry, is_new] = from.partial.try_emplace(first);
  ReceiveWindow::Partial& partial = entry->second;
  if (is_new) {
    partial.missing = head.total;
    if (head.has_data) partial.data = std::make_unique_for_overwrite<std::byte[]>(head.total);
  }
  if (partial.data != nullptr && head.has_data) {
    std::memcpy(partial.data.get() + head.offset, packet.data(), size);
  }
  partial.missing -= std::min(partial.missing, size);
  if (partial.missing > 0) return;
  frame.data = std::move(partial.data);
  from.partial.erase(entry);
  ready_.push_back(std::move(ready));
}

void Managed::take_write(const Head& head, const Packet& packet, ReceiveWindow& from) {
  const std::uint32_t first =
      head.number - static_cast<std::uint32_t>(head.offset / options_.chunk);
  auto [entry, is_new] = from.partial.try_emplace(first);
  ReceiveWindow::Partial& partial = entry->second;
  if (is_new) partial.missing = head.total;
  const std::size_t size = packet.data_size();
  const auto [begin, end] = regions_.equal_range(head.key);
  const auto region = std::find_if(begin, end, [&](const auto& one) {
    return one.second.peer.index == head.source && head.place <= one.second.size &&
           head.total <= one.second.size - head.place;
  });
  if (region != end) {
    below_.processor.copy(region->second.data + head.place + head.offset,
                          head.has_data ? packet.data() : nullptr, size);
  } else if (head.key != 0) {
    partial.dropped = true;  // The memory is closed.
  }
  partial.missing -= std::min(partial.missing, size);
  if (partial.missing > 0) return;
  const bool dropped = partial.dropped;
  from.partial.erase(entry);
  if (dropped) return;
  tell(Completion::Kind::written, RankId(head.source));
  ready_.back().completion.size = head.total;
  ready_.back().completion.head = packet.inner();
}

void Managed::hear_wishes(RankId from, ReceiveWindow& window) {
  while (const auto wish = window.next_wish()) on_wish(*wish, from);
}

void Managed::spread(const Head& news, RankId except) {
  for (auto& [peer, to] : links_) {
    if (to.up() && RankId(peer) != except && !is_gone(RankId(peer))) post_link(RankId(peer), news);
  }
}

// What it may have missed.
void Managed::tell_news(RankId peer) {
  Head news;
  news.verb = Verb::gone;
  for (const std::uint32_t rank : gone_) {
    news.source = rank;
    post_link(peer, news);
  }
  news.verb = Verb::apart;
  for (const auto& [a, b] : apart_) {
    news.source = a;
    news.target = b;
    post_link(peer, news);
  }
}

// Two neighbours that will not be connected.
void Managed::part(RankId a, RankId b) {
  if (!apart_.insert(std::minmax(a.index, b.index)).second) return;
  Head news;
  news.verb = Verb::apart;
  news.source = a.index;
  news.target = b.index;
  spread(news, self_);
  repeat_all();
}

// Nobody can reach it any more, or we cannot. Whatever went over it goes another way.
void Managed::lose(RankId rank, bool says_so) {
  if (rank == self_ || !gone_.insert(rank.index).second) return;
  tell(Completion::Kind::peer_lost, rank);
  for (Slot& slot : slots_) {
    if (slot.kind == Slot::Kind::free || slot.peer != rank) continue;
    if (slot.kind == Slot::Kind::passing) release(slot.passing);
    free_slot(slot);
  }
  Link lost = std::move(link(rank));
  if (lost.state == State::closing) --closing_;
  const bool was_held = lost.state >= State::open && below_.connections.needs_connection(rank);
  if (was_held) note_held(-1);
  link(rank) = {};
  link(rank).counted = lost.counted;
  let_go(rank);
  std::erase(invited_, rank);
  if (lost.trunk != nullptr) {
    for (auto& queue : lost.trunk->queue) {
      for (Passing& passing : queue) release(passing);
    }
  }
  outgoing_.erase(rank.index);
  incoming_.erase(rank.index);
  owing_.erase(rank.index);
  Head news;
  news.verb = Verb::gone;
  news.source = rank.index;
  if (says_so) spread(news, rank);
  reported_ = false;
  repeat_all();
  serve_invited();
}

}  // namespace weft::conn
