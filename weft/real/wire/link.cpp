// SPDX-License-Identifier: Apache-2.0
// What goes out over a link, and its life; link_in.cpp is about what comes in.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/wire/link.hpp>

namespace weft::wire {

namespace {

constexpr Duration descriptor_limit = Duration::ms(1000);
constexpr Duration closing_limit = Duration::ms(1000);
constexpr Rate unknown_rate = Rate::gbit_per_s(1);

}  // namespace

void Link::add(std::unique_ptr<LinkRail> rail) {
  WEFT_CHECK(rails_.size() < most_rails);
  rail->set_index(static_cast<std::uint32_t>(rails_.size()));
  rails_.push_back(std::move(rail));
}

bool Link::carries_frames() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return rail->carries_frames(); });
}

RailFacts Link::rail(RailId id) const {
  const LinkRail& rail = *rails_[id.index];
  const RailCost cost = rail.cost();
  const Rate rate = cost.rate > Rate() ? cost.rate : unknown_rate;
  if (rail.carries_frames()) return {rate, cost.latency, rail.up() && !writes_elsewhere()};
  // That its data has landed is told over another rail: that takes longer than a frame there.
  const LinkRail* const first = pick(RailId(0));
  const Duration latency = first != nullptr ? first->cost().latency * 2 : Duration();
  return {rate, latency, first != nullptr && rail.up(), false};
}

bool Link::any_up() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return rail->carries_frames() && rail->up(); });
}

bool Link::writes_elsewhere() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return rail->up() && rail->exclusive(); });
}

bool Link::others_up(const LinkRail& rail) const {
  return std::any_of(rails_.begin(), rails_.end(), [&](const auto& other) {
    return other.get() != &rail && other->carries_frames() && other->up();
  });
}

bool Link::outstanding() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return rail->outstanding(); });
}

bool Link::settled() const {
  return !closing() && !outstanding() &&
         std::all_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return !rail->carries_frames() || rail->up(); });
}

bool Link::owes() const {
  if (state_ == LinkState::left || state_ == LinkState::lost) return false;
  return !unrouted_.empty() ||
         std::any_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->owes(); });
}

void Link::follow(LinkEvent event, Time now) {
  const LinkState before = state_;
  switch (step(state_, event)) {
    case LinkAction::none:
      break;
    case LinkAction::dial_rails:
      dial_rails(now);
      break;
    case LinkAction::await_calls:
      all_down_since_ = now;
      for (const auto& rail : rails_) rail->await_call(now);
      break;
    case LinkAction::announce_close:
      if (before == LinkState::open) closing_since_ = now;
      announce_close(now);
      break;
    case LinkAction::stop_dialing:
      closing_since_ = now;
      cancel_dials();
      break;
    case LinkAction::connect_later:
      connect_later_ = true;
      break;
    case LinkAction::resume:
      connect_later_ = false;
      break;
    case LinkAction::finish_closing:
      finish_closing(now);
      break;
    case LinkAction::report_lost:
      report_lost(before);
      break;
    case LinkAction::report_refused:
      cancel_dials();
      no_descriptor_since_.reset();
      report(*rails_[0], Completion::Kind::refused, 0);
      break;
  }
}

void Link::dial_rails(Time now) {
  all_down_since_ = now;
  for (const auto& rail : rails_) {
    if (state_ == LinkState::open) rail->open(now);
  }
}

void Link::disconnect(Time now) {
  // Rails that only write need the others for keys and notices at any time.
  const bool needed = std::any_of(rails_.begin(), rails_.end(),
                                  [](const auto& rail) { return !rail->carries_frames(); });
  if (!needed) follow(LinkEvent::disconnect, now);
}

void Link::announce_close(Time now) {
  cancel_dials();
  if (!say(RecordKind::parting)) follow(LinkEvent::rails_down, now);
}

bool Link::may_close(Time now) const {
  // Not before both have asked: an earlier close would throw away the peer's last records.
  return state_ == LinkState::draining || (closing() && now - closing_since_ > closing_limit);
}

void Link::close_when_down(Time now) {
  if (closing() && !any_up()) follow(LinkEvent::rails_down, now);
}

void Link::finish_closing(Time now) {
  for (const auto& rail : rails_) rail->forget_failures();
  if (std::exchange(connect_later_, false) || !unrouted_.empty()) connect(now);
}

void Link::report_lost(LinkState before) {
  cancel_dials();
  for (const auto& rail : rails_) rail->end();
  const bool no_descriptor = no_descriptor_since_.has_value();
  if (!changed_over_.empty()) {
    host_.lose(peer_, "what it sent over " + changed_over_ +
                          " was changed or lost on the way, by an attacker or a defective network");
    return;
  }
  host_.lose(peer_, before == LinkState::dying ? "its process has ended"
                    : no_descriptor
                        ? "there is no descriptor for a connection to it: raise the limit "
                          "(ulimit -n), or let others relay (--connections managed)"
                        : "no rail leads to it any more");
}

void Link::cancel_dials() {
  for (const auto& rail : rails_) rail->cancel();
}

// On every rail that is up; false: there is none.
bool Link::say(RecordKind kind) {
  for (const auto& rail : rails_) {
    if (!rail->carries_frames() || !rail->up()) continue;
    Outgoing last;
    last.record.kind = kind;
    rail->forward(std::move(last));
  }
  return any_up();
}

// Other connections may just be closing: wait a moment before giving up.
void Link::no_descriptor(Time now) {
  if (any_up()) return;
  if (!no_descriptor_since_) no_descriptor_since_ = now;
  if (!unrouted_.empty() || now - *no_descriptor_since_ < descriptor_limit) return;
  follow(LinkEvent::no_descriptor, now);
}

void Link::watch(const LinkRail& rail, int descriptor, bool for_room) {
  host_.watch(descriptor, peer_, RailId(rail.index()), for_room);
}

void Link::rail_up(LinkRail& rail) {
  follow(LinkEvent::rail_up, host_.now());
  was_up_ = true;
  no_descriptor_since_.reset();
  std::deque<Outgoing> waiting;
  waiting.swap(unrouted_);
  for (Outgoing& outgoing : waiting) rail.forward(std::move(outgoing));
  waiting.clear();
  waiting.swap(untold_);
  for (Outgoing& outgoing : waiting) rail.forward(std::move(outgoing));
  readable(rail);
  report(rail, Completion::Kind::rail_up, 0);
}

void Link::rail_down(LinkRail& rail, std::vector<Outgoing>&& left, const EndedConnection& ended) {
  readable_ &= ~bit(rail.index());
  if (!any_up()) all_down_since_ = host_.now();
  report(rail, Completion::Kind::rail_down, 0);
  if (ended.name != 0 && state_ == LinkState::open) {
    Outgoing dead;
    dead.record.kind = RecordKind::rail_dead;
    dead.record.key = ended.name;
    dead.record.offset = rail.index();
    dead.record.sequence = ended.settled;
    tell_of_end(std::move(dead));
  }
  for (Outgoing& outgoing : left) repeat(rail, std::move(outgoing));
}

void Link::tell_of_end(Outgoing&& dead) {
  if (LinkRail* const other = pick(RailId(0))) {
    other->forward(std::move(dead));
  } else if (dead.record.sequence > 0) {
    untold_.push_back(std::move(dead));
  }
}

// A kernel has acknowledged it, so that the peer has forgotten it: there is no way to get it again.
// While the connection closes nothing is under way.
void Link::data_changed(const LinkRail& rail) {
  if (state_ != LinkState::open && state_ != LinkState::dying) return;
  changed_over_ = rail.name();
  follow(LinkEvent::unreachable, host_.now());
}

void Link::repeat(const LinkRail& rail, Outgoing&& outgoing) {
  outgoing.end = 0;
  switch (outgoing.record.kind) {
    case RecordKind::frame:
    case RecordKind::keys:
    case RecordKind::landed:
    case RecordKind::renewed:
      if (LinkRail* const other = pick(RailId(rail.index()))) {
        other->forward(std::move(outgoing));
      } else {
        unrouted_.push_back(std::move(outgoing));
      }
      break;
    case RecordKind::write:
    case RecordKind::more:
      if (outgoing.cookie == 0) break;  // Taken back, or a piece of one that follows.
      doubt(outgoing.record.key);
      report(rail, Completion::Kind::unsent, outgoing.cookie);
      break;
    case RecordKind::rail_dead:
      tell_of_end(std::move(outgoing));
      break;
    case RecordKind::goodbye:
    case RecordKind::parting:
    case RecordKind::ask:
    case RecordKind::answer:
      break;
  }
}

void Link::report(const LinkRail& rail, Completion::Kind kind, std::uint64_t cookie) {
  Completion told;
  told.kind = kind;
  told.peer = peer_;
  told.rail = RailId(rail.index());
  told.cookie = cookie;
  host_.tell(std::move(told));
}

// The wanted rail if it is up and carries frames, else the quickest that does. Null: none.
LinkRail* Link::pick(RailId wish) const {
  if (closing()) return nullptr;
  if (wish.index < rails_.size()) {
    LinkRail* const wanted = rails_[wish.index].get();
    if (wanted->up() && wanted->carries_frames()) return wanted;
  }
  LinkRail* best = nullptr;
  for (const auto& rail : rails_) {
    if (!rail->up() || !rail->carries_frames()) continue;
    if (best == nullptr || rail->cost().latency < best->cost().latency) best = rail.get();
  }
  return best;
}

void Link::post(RailId wish, Frame frame) {
  frame.sequence = next_out_++;
  if (LinkRail* const rail = pick(wish)) {
    rail->send(frame);
  } else {
    unrouted_.push_back(outgoing_from(frame));
  }
}

void Link::flush() {
  for (const auto& rail : rails_) rail->flush();
}

void Link::write(RailId id, RemoteWrite write) {
  for (const auto& rail : rails_) write.revoked |= rail->revoked(write.target.key);
  LinkRail& rail = *rails_[id.index];
  if (rail.write(write)) return;
  // What a rail without frames does not take goes over one with frames.
  LinkRail* const other = rail.carries_frames() ? nullptr : pick(RailId(0));
  if (other == nullptr || !other->write(write)) {
    report(rail, Completion::Kind::unsent, write.cookie);
  }
}

void Link::send_control(const Record& record, const std::string& data) {
  Outgoing outgoing;
  outgoing.record = record;
  outgoing.record.size = data.size();
  if (!data.empty()) {
    outgoing.owned = std::make_unique_for_overwrite<std::byte[]>(data.size());
    std::memcpy(outgoing.owned.get(), data.data(), data.size());
  }
  outgoing.data = outgoing.owned.get();
  LinkRail* const rail = pick(RailId(0));
  const bool ordered = record.kind != RecordKind::ask && record.kind != RecordKind::answer;
  if (ordered) outgoing.record.sequence = next_out_++;
  if (rail != nullptr) {
    rail->forward(std::move(outgoing));
  } else if (ordered) {
    unrouted_.push_back(std::move(outgoing));
  }
}

void Link::doubt(std::uint64_t region) {
  for (const auto& rail : rails_) rail->doubt(region);
}

bool Link::take_back(std::uint64_t cookie) {
  std::uint64_t region = 0;
  const bool taken = std::any_of(rails_.begin(), rails_.end(),
                                 [&](const auto& rail) { return rail->take_back(cookie, region); });
  if (region != 0) doubt(region);
  return taken;
}

bool Link::let_go() {
  bool left = false;
  for (const auto& rail : rails_) left = rail->let_go() || left;
  return left;
}

void Link::take_up() {
  for (const auto& rail : rails_) rail->take_up();
}

void Link::share(std::uint64_t key, std::byte* data, std::size_t size) {
  for (const auto& rail : rails_) rail->share(key, data, size);
}

void Link::say_goodbye() {
  cancel_dials();
  static_cast<void>(say(RecordKind::goodbye));
}

}  // namespace weft::wire
