// SPDX-License-Identifier: Apache-2.0
// Receiving over relays: pieces become frames and writes for the layer above, and are acknowledged.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/message/conn/relays.hpp>

namespace weft::conn {

void Relays::on_credit(const Head& head, RankId peer) {
  RelayQueues& queues = state_.link(peer).queues();
  const std::uint64_t back[] = {0, head.total, head.offset, head.key};
  for (std::size_t left = 1; left <= relays_most; ++left) {
    queues.used[left] -= std::min<std::size_t>(queues.used[left], back[left]);
  }
  resume_link(peer);
}

void Relays::on_chunk(const Head& head, Completion& in) {
  const RankId source(head.source);
  Packet packet = Packet::take(in, head.has_data);
  if (RankId(head.target) != state_.self) {
    pass({head, std::move(packet), in.peer, head.left});
    return;
  }
  if (state_.is_gone(source)) return;
  take_ack(source, head.ack);
  if (head.verb == Verb::ack || packet.size < sizeof(FrameHead)) return;
  ReceiveWindow& window = incoming_[source.index];
  if (!window.accept(head.number)) {
    window.ack_due = true;  // Its source has not heard that it arrived before.
    pump(source);
    return;
  }
  const std::size_t size = packet.data_size();
  if (head.control == Control::none && head.offset == 0) owner_.was_relayed(source);
  take_chunk(head, std::move(packet), window);
  note_owed(head, size, window);
  while (const auto control = window.next_control()) owner_.heard(*control, source);
}

void Relays::take_ack(RankId from, std::uint32_t number) {
  const auto window = outgoing_.find(from.index);
  if (window == outgoing_.end()) return;
  const auto through = window->second.acknowledged(number, state_.options.chunk);
  for (const SendWindow::Message& message : through) {
    if (message.cookie != 0) state_.tell(Completion::Kind::sent, from, message.cookie);
  }
  pump(from);
}

void Relays::note_owed(const Head& head, std::size_t size, ReceiveWindow& from) {
  ++from.owed_frames;
  from.owed_bytes += size;
  if (head.urgent || from.owed_frames * 4 >= state_.options.pair_frames ||
      from.owed_bytes * 4 >= state_.options.pair_window) {
    from.ack_due = true;
    pump(RankId(head.source));
  } else {
    owing_.insert(head.source);
  }
}

void Relays::acknowledge_all() {
  if (owing_.empty()) return;
  const std::vector<std::uint32_t> sources(owing_.begin(), owing_.end());
  owing_.clear();
  for (const std::uint32_t source : sources) {
    incoming_[source].ack_due = true;
    pump(RankId(source));
  }
}

void Relays::take_chunk(const Head& head, Packet&& packet, ReceiveWindow& from) {
  if (head.control != Control::none) {
    from.hold(head.number, head.control);
  } else if (head.offset > head.total || packet.data_size() > head.total - head.offset) {
    return;
  } else if (head.is_write) {
    take_write(head, packet, from);
  } else {
    take_frame(head, std::move(packet), from);
  }
}

void Relays::take_frame(const Head& head, Packet&& packet, ReceiveWindow& from) {
  ReadyCompletion ready;
  Completion& frame = ready.completion;
  frame.kind = Completion::Kind::frame;
  frame.peer = RankId(head.source);
  frame.size = head.total;
  frame.head = packet.inner();
  const std::size_t size = packet.data_size();
  if (size == head.total) {
    if (head.has_data && size > 0) frame.lent = packet.data();
    ready.keep = std::move(packet.bytes);
    state_.ready.push_back(std::move(ready));
    return;
  }
  const std::uint32_t first =
      head.number - static_cast<std::uint32_t>(head.offset / state_.options.chunk);
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
  state_.ready.push_back(std::move(ready));
}

void Relays::take_write(const Head& head, const Packet& packet, ReceiveWindow& from) {
  const std::uint32_t first =
      head.number - static_cast<std::uint32_t>(head.offset / state_.options.chunk);
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
    state_.below.processor.copy(region->second.data + head.place + head.offset,
                                head.has_data ? packet.data() : nullptr, size);
  } else if (head.key != 0) {
    partial.dropped = true;  // The memory is closed.
  }
  partial.missing -= std::min(partial.missing, size);
  if (partial.missing > 0) return;
  const bool dropped = partial.dropped;
  from.partial.erase(entry);
  if (dropped) return;
  Completion& written = state_.tell(Completion::Kind::written, RankId(head.source));
  written.size = head.total;
  written.head = packet.inner();
}

void Relays::add_region(std::uint64_t key, RankId peer, std::byte* data, std::size_t size) {
  regions_.emplace(key, Region{peer, data, size});
}

void Relays::remove_region(std::uint64_t key) {
  const auto found = regions_.find(key);
  if (found != regions_.end()) regions_.erase(found);
}

}  // namespace weft::conn
