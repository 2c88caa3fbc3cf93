// SPDX-License-Identifier: Apache-2.0
// Sending over relays. A frame that must be passed on takes credit at its next relay, separately
// for each number of relays that are still before it. This bounds the memory of a relay, and what a
// relay holds waits only for room that is nearer to its target: there is no circular wait.
#include <algorithm>
#include <utility>

#include <weft/message/conn/relays.hpp>

namespace weft::conn {

namespace {

std::size_t cost_of(const Packet& packet) {
  return packet.size + frame_cost;
}

}  // namespace

void Relays::send(RankId target, Control control) {
  SendWindow::Message message;
  message.control = control;
  send(target, std::move(message));
}

void Relays::send(RankId target, SendWindow::Message&& message) {
  if (message.control == Control::none) {
    ++state_.counts.relayed_frames;
    state_.counts.relayed_bytes += message.data.size;
  }
  outgoing_[target.index].add(std::move(message), state_.options.chunk);
  pump(target);
}

void Relays::resume(RankId target) {
  if (outgoing_.contains(target.index)) pump(target);
}

bool Relays::draw(Link& to, std::uint8_t left, std::size_t cost) {
  std::size_t& used = to.queues().used[left];
  if (used > 0 && used + cost > state_.options.relay_window) return false;
  used += cost;
  return true;
}

void Relays::wait_at(Link& next, RankId target) {
  RelayQueues& queues = next.queues();
  if (queues.waits.insert(target.index).second) queues.waiting.push_back(target.index);
}

// Sends what it can to the target: pieces of frames, or else an acknowledgement of its own.
void Relays::pump(RankId target) {
  if (state_.is_gone(target)) return;
  SendWindow& window = outgoing_[target.index];
  for (;;) {
    const bool has_chunk = window.can_send(state_.options);
    const auto from = incoming_.find(target.index);
    if (!has_chunk && (from == incoming_.end() || !from->second.ack_due)) return;
    const Route route = neighbours_.find_route(target);
    if (!route.found) {
      wait_at(state_.link(target), target);
      owner_.no_route(target);
      return;
    }
    Link& next = state_.link(route.next);
    const std::size_t size =
        has_chunk ? sizeof(FrameHead) + window.next_size(state_.options.chunk) : 0;
    // Frames of others go first: they hold memory of ours.
    const bool behind = route.left > 0 && !next.queues().transit[route.left].empty();
    if (!next.up() || behind || (route.left > 0 && !draw(next, route.left, size + frame_cost))) {
      wait_at(next, target);
      return;
    }
    if (has_chunk) {
      send_next(target, window, route);
    } else {
      send_ack(target, route);
    }
  }
}

// Every chunk to a rank acknowledges what came from there.
void Relays::acknowledge(RankId target, Head& head) {
  head.source = state_.self.index;
  head.target = target.index;
  const auto from = incoming_.find(target.index);
  if (from == incoming_.end()) return;
  head.ack = from->second.next();
  from->second.owed_frames = 0;
  from->second.owed_bytes = 0;
  from->second.ack_due = false;
  owing_.erase(target.index);
}

void Relays::send_next(RankId target, SendWindow& window, const Route& route) {
  Head head;
  head.left = route.left;
  Packet packet = window.send(state_.options.chunk, head);
  acknowledge(target, head);
  PendingSend& pending = state_.add_pending(PendingSend::Kind::chunk, route.next, 0);
  pending.transit.packet = std::move(packet);
  state_.post_packet(pending, head);
}

void Relays::send_ack(RankId target, const Route& route) {
  Head head;
  head.verb = Verb::ack;
  head.left = route.left;
  acknowledge(target, head);
  state_.post(route.next, head);
}

// A frame of others. One that cannot go on is dropped: something was just lost, and its source
// sends it over another route.
void Relays::pass(TransitFrame&& frame) {
  const std::size_t cost = cost_of(frame.packet);
  in_transit_ += cost;
  state_.counts.passing_most = std::max<std::uint64_t>(state_.counts.passing_most, in_transit_);
  ++state_.counts.passed_frames;
  state_.counts.passed_bytes += frame.packet.size;
  state_.below.processor.spend(state_.options.relay_work);
  const std::uint8_t most = frame.left > 0 ? frame.left - 1 : 0;
  const Route route = neighbours_.find_route(RankId(frame.head.target), most);
  if (frame.left == 0 || frame.left > relays_most || !route.found) {
    report_dropped(frame.head);
    release(frame);
    return;
  }
  Link& next = state_.link(route.next);
  if (next.up() && route.left == 0) {
    post_transit(route.next, 0, std::move(frame));
    return;
  }
  next.queues().transit[route.left].push_back(std::move(frame));
  if (next.up()) resume_link(route.next);
}

// Small and rare, so it goes without credit. It is lost only with another rank, and then everything
// is repeated.
void Relays::report_dropped(const Head& chunk) {
  if (chunk.verb != Verb::chunk) return;
  Head head;
  head.verb = Verb::dropped;
  head.left = relays_most;
  head.target = chunk.source;
  head.key = chunk.target;
  on_dropped(head);
}

void Relays::on_dropped(const Head& head) {
  if (head.target == state_.self.index) {
    const auto window = outgoing_.find(static_cast<std::uint32_t>(head.key));
    if (window == outgoing_.end()) return;
    state_.counts.repeated += window->second.repeat();
    pump(RankId(window->first));
    return;
  }
  Head on = head;
  const Route route = neighbours_.find_route(RankId(head.target));
  if (!route.found || on.left-- == 0 || !state_.link(route.next).up()) return;
  state_.post(route.next, on);
}

void Relays::post_transit(RankId next, std::uint8_t left, TransitFrame&& frame) {
  PendingSend& pending = state_.add_pending(PendingSend::Kind::transit, next, 0);
  pending.transit = std::move(frame);
  pending.transit.head.left = left;
  state_.post_packet(pending, pending.transit.head);
}

void Relays::release(TransitFrame& frame) {
  const std::size_t cost = cost_of(frame.packet);
  in_transit_ -= cost;
  if (frame.left == 0 || frame.left > relays_most || state_.is_gone(frame.from)) return;
  Link& from = state_.link(frame.from);
  RelayQueues& queues = from.queues();
  queues.owed[frame.left] += cost;
  if (!from.up() || queues.owed[frame.left] < state_.options.relay_window / 4) return;
  Head head;
  head.verb = Verb::credit;
  head.total = std::exchange(queues.owed[1], 0);
  head.offset = std::exchange(queues.owed[2], 0);
  head.key = std::exchange(queues.owed[3], 0);
  state_.post(frame.from, head);
}

void Relays::resume_link(RankId peer) {
  Link& to = state_.link(peer);
  if (!to.up() || to.relay_queues == nullptr) return;
  RelayQueues& queues = *to.relay_queues;
  bool blocked = false;
  for (std::uint8_t left = 0; left <= relays_most; ++left) {
    std::deque<TransitFrame>& queue = queues.transit[left];
    while (!queue.empty() && (left == 0 || draw(to, left, cost_of(queue.front().packet)))) {
      TransitFrame first = std::move(queue.front());
      queue.pop_front();
      post_transit(peer, left, std::move(first));
    }
    blocked = blocked || !queue.empty();
  }
  while (!blocked && !queues.waiting.empty()) {
    const std::uint32_t target = queues.waiting.front();
    queues.waiting.pop_front();
    queues.waits.erase(target);
    pump(RankId(target));
    blocked = queues.waits.contains(target);
  }
}

void Relays::give_up_link(RankId peer) {
  Link& to = state_.link(peer);
  if (to.relay_queues == nullptr) return;
  const std::deque<std::uint32_t> waiting = std::exchange(to.relay_queues->waiting, {});
  to.relay_queues->waits.clear();
  for (const std::uint32_t target : waiting) pump(RankId(target));
}

void Relays::drop_transit(RankId peer) {
  Link& to = state_.link(peer);
  if (to.relay_queues == nullptr) return;
  for (auto& queue : to.relay_queues->transit) {
    for (TransitFrame& frame : queue) {
      report_dropped(frame.head);
      release(frame);
    }
  }
  to.relay_queues->transit = {};
}

void Relays::repeat_all() {
  neighbours_.forget_routes();
  std::vector<std::uint32_t> targets;
  for (auto& [target, window] : outgoing_) {
    state_.counts.repeated += window.repeat();
    targets.push_back(target);
  }
  for (const std::uint32_t target : targets) pump(RankId(target));
}

void Relays::forget(RankId rank, Link&& lost) {
  if (lost.relay_queues != nullptr) {
    for (auto& queue : lost.relay_queues->transit) {
      for (TransitFrame& frame : queue) release(frame);
    }
  }
  outgoing_.erase(rank.index);
  incoming_.erase(rank.index);
  owing_.erase(rank.index);
}

bool Relays::drained() const {
  return owing_.empty() && std::all_of(outgoing_.begin(), outgoing_.end(),
                                       [](const auto& one) { return one.second.empty(); });
}

}  // namespace weft::conn
