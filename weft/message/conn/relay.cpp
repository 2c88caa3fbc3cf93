// SPDX-License-Identifier: Apache-2.0
// Ways over others. A frame that must be passed on takes credit at who shall do it, apart for each
// number of relays that are still before it. So a relay's memory has a bound, and what is in it
// waits only for room that is nearer to the end: no circle.
#include <algorithm>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/conn/managed.hpp>

namespace weft::conn {

namespace {

std::size_t cost_of(const Packet& packet) {
  return packet.size + frame_cost;
}

}  // namespace

bool Managed::usable(RankId peer) const {
  const Link* const to = find(peer);
  if (to == nullptr || is_gone(peer)) return false;
  return to->up() || (to->state == State::opening && (to->neighbour || to->forced));
}

// Two others, as far as we have heard.
bool Managed::joined(RankId a, RankId b) const {
  return layout_.neighbours(a, b) && !is_gone(a) && !is_gone(b) &&
         !apart_.contains(std::minmax(a.index, b.index));
}

Managed::Route Managed::find_route(RankId target, std::uint8_t most) {
  if (is_gone(target)) return {};
  if (usable(target)) return {target, 0, true};
  auto known = routes_.find(target.index);
  if (known == routes_.end()) known = routes_.emplace(target.index, search(target)).first;
  const Route& route = known->second;
  return route.found && route.left <= most ? route : Route{};
}

// The way with the fewest relays. Among several, ranks begin at different ones.
Managed::Route Managed::search(RankId target) const {
  const std::size_t count = neighbours_.size();
  const std::uint32_t group = layout_.group(target);
  const auto nth = [&](std::size_t i) {
    return neighbours_[(i + self_.index + target.index) % count];
  };
  for (const bool in_group : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      const RankId next = nth(i);
      if ((layout_.group(next) == group) != in_group) continue;
      if (usable(next) && joined(next, target)) return {next, 1, true};
    }
  }
  return search_far(target);
}

// Over more than one, rank by rank from near to far.
Managed::Route Managed::search_far(RankId target) const {
  struct Seen {
    RankId at, next;
  };
  std::vector<bool> known(below_.ranks);
  known[self_.index] = true;
  std::vector<Seen> edge;
  for (const RankId next : neighbours_) {
    if (!usable(next)) continue;
    known[next.index] = true;
    edge.push_back({next, next});
  }
  for (std::uint8_t left = 2; left <= relays_most; ++left) {
    std::vector<Seen> further;
    for (const Seen& seen : edge) {
      for (const RankId at : layout_.neighbours_of(seen.at)) {
        if (known[at.index] || !joined(seen.at, at)) continue;
        known[at.index] = true;
        if (joined(at, target)) return {seen.next, left, true};
        further.push_back({at, seen.next});
      }
    }
    edge = std::move(further);
  }
  return {};
}

void Managed::send_relayed(RankId target, SendWindow::Message&& message) {
  if (message.wish == Wish::none) {
    ++counts_.relayed_frames;
    counts_.relayed_bytes += message.data.size;
  }
  outgoing_[target.index].add(std::move(message), options_.chunk);
  pump(target);
}

bool Managed::draw(Link& to, std::uint8_t left, std::size_t cost) {
  std::size_t& used = to.lines().used[left];
  if (used > 0 && used + cost > options_.relay_window) return false;
  used += cost;
  return true;
}

void Managed::wait_at(Link& next, RankId target) {
  Link::Trunk& lines = next.lines();
  if (lines.waits.insert(target.index).second) lines.waiting.push_back(target.index);
}

// Sends what it can to the target: pieces, or else how far we have come with its own.
void Managed::pump(RankId target) {
  if (is_gone(target)) return;
  SendWindow& window = outgoing_[target.index];
  for (;;) {
    const bool has_chunk = window.can_send(options_);
    const auto from = incoming_.find(target.index);
    if (!has_chunk && (from == incoming_.end() || !from->second.ack_due)) return;
    const Route route = find_route(target, relays_most);
    if (!route.found) {
      wait_at(link(target), target);
      force(target);
      return;
    }
    Link& next = link(route.next);
    const std::size_t size = has_chunk ? sizeof(FrameHead) + window.next_size(options_.chunk) : 0;
    // Others' frames first: they hold room at us.
    const bool behind = route.left > 0 && !next.lines().queue[route.left].empty();
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

// Whatever goes to a rank says how far we have come with what it sent.
void Managed::note_acked(RankId target, Head& head) {
  head.source = self_.index;
  head.target = target.index;
  const auto from = incoming_.find(target.index);
  if (from == incoming_.end()) return;
  head.ack = from->second.next();
  from->second.owed_frames = 0;
  from->second.owed_bytes = 0;
  from->second.ack_due = false;
  owing_.erase(target.index);
}

void Managed::send_next(RankId target, SendWindow& window, const Route& route) {
  Head head;
  head.left = route.left;
  Packet packet = window.send(options_.chunk, head);
  note_acked(target, head);
  const std::uint64_t cookie = take_slot(Slot::Kind::chunk, route.next, 0);
  Link& next = link(route.next);
  ++next.out;
  next.used = ++tick_;
  Slot& slot = *find_slot(cookie);
  slot.passing.packet = std::move(packet);
  const auto rails = static_cast<std::uint32_t>(rails_to(route.next));
  below_.transport.post({route.next, RailId(head.number % rails), Duration::zero()}, encode(head),
                        slot.passing.packet.payload(), true, cookie);
}

void Managed::send_ack(RankId target, const Route& route) {
  Head head;
  head.verb = Verb::ack;
  head.left = route.left;
  note_acked(target, head);
  post_link(route.next, head);
}

void Managed::post_link(RankId peer, const Head& head, std::uint64_t cookie) {
  Link& to = link(peer);
  ++to.out;
  below_.transport.post({peer, RailId(0), Duration::zero()}, encode(head), {}, false, cookie);
}

// A frame of others. What cannot go on is dropped: something has just been lost, and its source
// sends it another way.
void Managed::pass(Passing&& passing) {
  const std::size_t cost = cost_of(passing.packet);
  passing_ += cost;
  counts_.passing_most = std::max<std::uint64_t>(counts_.passing_most, passing_);
  ++counts_.passed_frames;
  counts_.passed_bytes += passing.packet.size;
  below_.processor.spend(options_.relay_work);
  const std::uint8_t most = passing.left > 0 ? passing.left - 1 : 0;
  const Route route = find_route(RankId(passing.head.target), most);
  if (passing.left == 0 || passing.left > relays_most || !route.found) {
    say_dropped(passing.head);
    release(passing);
    return;
  }
  Link& next = link(route.next);
  if (next.up() && route.left == 0) {
    post_passing(route.next, 0, std::move(passing));
    return;
  }
  next.lines().queue[route.left].push_back(std::move(passing));
  if (next.up()) pump_link(route.next);
}

// Small and rare: it goes without credit. If it is lost, so is another rank, and all is repeated.
void Managed::say_dropped(const Head& chunk) {
  if (chunk.verb != Verb::chunk) return;
  Head head;
  head.verb = Verb::dropped;
  head.left = relays_most;
  head.target = chunk.source;
  head.key = chunk.target;
  on_dropped(head);
}

void Managed::on_dropped(const Head& head) {
  if (head.target == self_.index) {
    const auto window = outgoing_.find(static_cast<std::uint32_t>(head.key));
    if (window == outgoing_.end()) return;
    counts_.repeated += window->second.repeat();
    pump(RankId(window->first));
    return;
  }
  Head on = head;
  const Route route = find_route(RankId(head.target), relays_most);
  if (!route.found || on.left-- == 0 || !link(route.next).up()) return;
  post_link(route.next, on);
}

void Managed::post_passing(RankId next, std::uint8_t left, Passing&& passing) {
  const std::uint64_t cookie = take_slot(Slot::Kind::passing, next, 0);
  Slot& slot = *find_slot(cookie);
  slot.passing = std::move(passing);
  slot.passing.head.left = left;
  Link& to = link(next);
  ++to.out;
  to.used = ++tick_;
  const auto rails = static_cast<std::uint32_t>(rails_to(next));
  below_.transport.post({next, RailId(slot.passing.head.number % rails), Duration::zero()},
                        encode(slot.passing.head), slot.passing.packet.payload(), true, cookie);
}

// It has gone on: who gave it to us may give us more.
void Managed::release(Passing& passing) {
  const std::size_t cost = cost_of(passing.packet);
  passing_ -= cost;
  if (passing.left == 0 || passing.left > relays_most || is_gone(passing.from)) return;
  Link& from = link(passing.from);
  Link::Trunk& lines = from.lines();
  lines.owed[passing.left] += cost;
  if (!from.up() || lines.owed[passing.left] < options_.relay_window / 4) return;
  Head head;
  head.verb = Verb::credit;
  head.total = std::exchange(lines.owed[1], 0);
  head.offset = std::exchange(lines.owed[2], 0);
  head.key = std::exchange(lines.owed[3], 0);
  post_link(passing.from, head);
}

// There is credit again, or the connection is open.
void Managed::pump_link(RankId peer) {
  Link& to = link(peer);
  if (!to.up() || to.trunk == nullptr) return;
  Link::Trunk& lines = *to.trunk;
  bool blocked = false;
  for (std::uint8_t left = 0; left <= relays_most; ++left) {
    std::deque<Passing>& queue = lines.queue[left];
    while (!queue.empty() && (left == 0 || draw(to, left, cost_of(queue.front().packet)))) {
      Passing first = std::move(queue.front());
      queue.pop_front();
      post_passing(peer, left, std::move(first));
    }
    blocked = blocked || !queue.empty();
  }
  while (!blocked && !lines.waiting.empty()) {
    const std::uint32_t target = lines.waiting.front();
    lines.waiting.pop_front();
    lines.waits.erase(target);
    pump(RankId(target));
    blocked = lines.waits.contains(target);
  }
}

// What was under way may have been lost.
void Managed::repeat_all() {
  routes_.clear();
  std::vector<std::uint32_t> targets;
  for (auto& [target, window] : outgoing_) {
    counts_.repeated += window.repeat();
    targets.push_back(target);
  }
  for (const std::uint32_t target : targets) pump(RankId(target));
}

}  // namespace weft::conn
