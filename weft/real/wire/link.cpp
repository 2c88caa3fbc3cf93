// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/wire/link.hpp>

namespace weft::wire {

namespace {

constexpr Duration retry_first = Duration::ms(20);
constexpr Duration retry_most = Duration::ms(300);
constexpr Duration room_limit = Duration::ms(1000);
constexpr std::size_t everything = std::size_t{1} << 30;
constexpr Duration weigh_every = Duration::ms(10);
constexpr Duration room_for = Duration::us(250);
constexpr std::size_t least_room = std::size_t{16} << 10;
constexpr std::size_t most_room = std::size_t{1} << 20;

Duration retry_after(int failures) {
  Duration wait = retry_first;
  for (int i = 1; i < failures && wait < retry_most; ++i) wait = wait * 2;
  return std::min(wait, retry_most);
}

std::unique_ptr<std::byte[]> copy_of(const std::byte* data, std::size_t size) {
  if (size == 0) return nullptr;
  auto copy = std::make_unique_for_overwrite<std::byte[]>(size);
  std::memcpy(copy.get(), data, size);
  return copy;
}

}  // namespace

Link::Link(const LinkSetting& setting, RankId peer, std::vector<Route> routes, LinkHost& host)
    : setting_(setting), peer_(peer), host_(host) {
  WEFT_CHECK(routes.size() <= 64);
  for (Route& route : routes) {
    Rail& rail = rails_.emplace_back();
    rail.route = std::move(route);
  }
}

void Link::add_lanes(Ofi& ofi, std::vector<OfiLanes::Route> routes, bool alone) {
  if (routes.empty()) return;
  lanes_ = std::make_unique<OfiLanes>(ofi, std::move(routes), static_cast<LaneHost&>(*this));
  lanes_alone_ = alone;
}

RailFacts Link::rail(RailId id) const {
  const Rate unknown = Rate::gbit_per_s(1);
  if (id.index >= rails_.size()) {
    // That it has landed is told over a connection: it takes longer than a frame there.
    const std::size_t lane = id.index - rails_.size();
    const auto first = pick(RailId(0));
    const Rate speed = lanes_->speed(lane);
    return {speed > Rate() ? speed : unknown, first ? rails_[*first].latency * 2 : Duration(),
            first && lanes_->up(lane), false};
  }
  const Rail& rail = rails_[id.index];
  const Rate speed = rail.route.from.speed;
  const bool only_frames = lanes_alone_ && lanes_->any_up();
  return {speed > Rate() ? speed : unknown, rail.latency, rail.stream != nullptr && !only_frames};
}

std::string Link::name_of(RailId id) const {
  if (id.index < rails_.size()) return rails_[id.index].route.from.name;
  return lanes_->domain(id.index - rails_.size());
}

bool Link::any_up() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const Rail& rail) { return rail.stream != nullptr; });
}

bool Link::outstanding() const {
  if (lanes_ != nullptr && lanes_->busy()) return true;
  return std::any_of(rails_.begin(), rails_.end(), [](const Rail& rail) {
    return rail.stream != nullptr &&
           (rail.stream->has_unacknowledged() || rail.stream->has_unsent());
  });
}

bool Link::settled() const {
  return !parts() && !outstanding() &&
         std::all_of(rails_.begin(), rails_.end(),
                     [](const Rail& rail) { return rail.stream != nullptr; });
}

bool Link::owes() const {
  if (left_ || lost_) return false;
  if (lanes_ != nullptr && lanes_->busy()) return true;
  return !homeless_.empty() || std::any_of(rails_.begin(), rails_.end(), [](const Rail& rail) {
    return rail.stream != nullptr && rail.stream->owes();
  });
}

void Link::connect(Time now) {
  if (parts()) again_ = true;
  if (wanted_ || lost_) return;
  wanted_ = true;
  alone_since_ = now;
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].stream == nullptr && rails_[i].dial == nullptr) begin_dial(i, now);
  }
}

void Link::part(Time now) {
  // Cards are told over connections what they need to know.
  if (!wanted_ || lost_ || left_ || lanes_ != nullptr) return;
  begin_parting(parting_, now);
  if (!say(RecordKind::parting)) end_parting(now);
}

void Link::begin_parting(bool& whose, Time now) {
  if (!parts()) parting_since_ = now;
  whose = true;
  for (Rail& rail : rails_) rail.dial.reset();
}

// As if nothing had been: whoever has something to say begins anew.
void Link::end_parting(Time now) {
  if (!parts() || any_up()) return;
  parting_ = peer_parts_ = wanted_ = false;
  for (Rail& rail : rails_) rail.failures = 0;
  if (std::exchange(again_, false) || !homeless_.empty()) connect(now);
}

// On every rail; false: there is none.
bool Link::say(RecordKind kind) {
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].stream == nullptr) continue;
    Outgoing last;
    last.record.kind = kind;
    push(i, std::move(last));
  }
  return any_up();
}

void Link::begin_dial(std::uint32_t index, Time now) {
  Rail& rail = rails_[index];
  rail.next_try = now + retry_after(++rail.failures);
  if (setting_.keep_free > 0 && descriptors_left() < setting_.keep_free) {
    lack_room(index, now);
    return;
  }
  auto socket = connect_from(rail.route.from, rail.route.to, rail.route.port);
  if (!socket) {
    // The interface is down, and we try another time; or there are no descriptors.
    if (descriptors_left() == 0) lack_room(index, now);
    return;
  }
  const Claim claim{.from = setting_.self.index,
                    .to = peer_.index,
                    .rail = index,
                    .connection = fresh_name(),
                    .replaces = rail.name};
  prepare(*socket, setting_.lost_after);  // A call that nobody answers ends as silent rails do.
  rail.dial = std::make_unique<Dial>(std::move(*socket), setting_.secret, claim, now);
  host_.watch(rail.dial->socket(), peer_, RailId(index), true);
}

// For a moment that may be so because others are just being closed.
void Link::lack_room(std::uint32_t index, Time now) {
  if (any_up()) return;
  if (!std::exchange(no_room_, true)) no_room_since_ = now;
  if (!homeless_.empty() || now - no_room_since_ < room_limit) return;
  wanted_ = no_room_ = false;
  tell_rail(index, Completion::Kind::refused);
}

void Link::end_dial(std::uint32_t index, Time now) {
  Rail& rail = rails_[index];
  const bool connecting = rail.dial->connecting();
  const Step step = rail.dial->advance();
  if (step == Step::wait) {
    if (connecting) host_.watch(rail.dial->socket(), peer_, RailId(index), false);
    return;
  }
  const std::unique_ptr<Dial> dial = std::move(rail.dial);
  // Taken: the peer's own connection is under way. If it does not come, we try again.
  if (step == Step::failed || dial->verdict() == Verdict::taken) return;
  adopt(index,
        std::make_unique<Stream>(
            dial->take(), Stream::Facts{dial->claim().connection, true, setting_.largest_frame,
                                        rail.route.from.node}),
        now);
}

// Two processes may connect to each other at once. The one opened by the lower rank stays; one that
// its owner says is dead is replaced.
Verdict Link::judge(const Claim& claim) const {
  if (claim.rail >= rails_.size() || lost_) return Verdict::taken;
  const Rail& rail = rails_[claim.rail];
  const bool peer_first = peer_ < setting_.self;
  if (rail.stream != nullptr && claim.replaces == rail.stream->facts().name) {
    return Verdict::welcome;
  }
  if (rail.stream != nullptr && rail.stream->facts().ours && !peer_first) return Verdict::taken;
  if (rail.dial != nullptr && !peer_first) return Verdict::taken;
  return Verdict::welcome;
}

void Link::admit(Descriptor socket, const Claim& claim, Time now) {
  if (!wanted_) {
    wanted_ = true;
    alone_since_ = now;
    // It will call on the other rails as well.
    for (Rail& rail : rails_) rail.next_try = now + retry_most;
  }
  adopt(claim.rail,
        std::make_unique<Stream>(std::move(socket),
                                 Stream::Facts{claim.connection, false, setting_.largest_frame,
                                               rails_[claim.rail].route.from.node}),
        now);
}

void Link::adopt(std::uint32_t index, std::unique_ptr<Stream> stream, Time now) {
  Rail& rail = rails_[index];
  if (rail.stream != nullptr) give_up(index, now, false);
  rail.dial.reset();
  parting_ = peer_parts_ = again_ = false;  // Somebody has something to say.
  prepare(stream->socket(), setting_.lost_after);
  rail.name = stream->facts().name;
  rail.stream = std::move(stream);
  heard_of_ = true;
  no_room_ = false;
  rail.failures = 0;
  const Duration trip = health_of(rail.stream->socket()).round_trip / 2;
  rail.latency = trip;
  rail.watched_out = false;
  rail.room = Stream::first_room;
  host_.watch(rail.stream->socket(), peer_, RailId(index), false);
  std::deque<Outgoing> waiting;
  waiting.swap(homeless_);
  for (Outgoing& outgoing : waiting) push(index, std::move(outgoing));
  readable_ |= std::uint64_t{1} << index;
  tell_rail(index, Completion::Kind::rail_up);
}

void Link::tell_rail(std::uint32_t index, Completion::Kind kind) {
  Completion told;
  told.kind = kind;
  told.peer = peer_;
  told.rail = RailId(index);
  host_.tell(std::move(told));
}

// What the rail may have lost goes to others, or back to who cut it.
void Link::give_up(std::uint32_t index, Time now, bool tell_peer) {
  Rail& rail = rails_[index];
  const std::unique_ptr<Stream> stream = std::move(rail.stream);
  stream->settle(done_, now);
  std::vector<Outgoing> left = stream->give_up();
  readable_ &= ~(std::uint64_t{1} << index);
  rail.next_try = now + retry_after(rail.failures);
  if (!any_up()) alone_since_ = now;
  tell_rail(index, Completion::Kind::rail_down);
  if (tell_peer && pick(RailId(0))) {
    Outgoing dead;
    dead.record.kind = RecordKind::rail_dead;
    dead.record.key = stream->facts().name;
    dead.record.offset = index;
    push(*pick(RailId(0)), std::move(dead));
  }
  for (Outgoing& outgoing : left) {
    outgoing.end = 0;
    switch (outgoing.record.kind) {
      case RecordKind::frame:
      case RecordKind::keys:
      case RecordKind::landed:
      case RecordKind::renewed:
        if (const auto other = pick(RailId(index))) {
          push(*other, std::move(outgoing));
        } else {
          homeless_.push_back(std::move(outgoing));
        }
        break;
      case RecordKind::write:
      case RecordKind::more: {
        if (outgoing.cookie == 0) break;  // Taken back, or a piece of one that follows.
        if (lanes_ != nullptr) lanes_->doubt(outgoing.record.key);
        return_write(index, outgoing.cookie);
        break;
      }
      case RecordKind::rail_dead:
      case RecordKind::goodbye:
      case RecordKind::parting:
      case RecordKind::ask:
      case RecordKind::answer:
        break;
    }
  }
  if (parts()) {
    stream->close();
  } else {
    stream->drop();
  }
}

std::optional<std::uint32_t> Link::pick(RailId wish) const {
  if (parts()) return std::nullopt;
  if (wish.index < rails_.size() && rails_[wish.index].stream != nullptr) return wish.index;
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].stream == nullptr) continue;
    if (!best || rails_[i].latency < rails_[*best].latency) best = i;
  }
  return best;
}

void Link::push(std::uint32_t index, Outgoing&& outgoing) {
  Rail& rail = rails_[index];
  rail.stream->push(std::move(outgoing));
  pump(index);
}

// Whoever fills the socket must say whether it shall tell of more room: a watch that stays would
// tell of it all the time.
void Link::pump(std::uint32_t index) {
  Rail& rail = rails_[index];
  // Whatever the peer said before it broke is still to be read.
  if (!rail.stream->pump_out()) readable_ |= std::uint64_t{1} << index;
  const bool wants_out = rail.stream->has_unsent();
  if (wants_out == rail.watched_out) return;
  rail.watched_out = wants_out;
  host_.watch(rail.stream->socket(), peer_, RailId(index), wants_out);
}

bool Link::let_go() {
  bool left = false;
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].stream == nullptr || !rails_[i].stream->has_unsent()) continue;
    rails_[i].stream->set_room(everything);
    pump(i);
    left = left || rails_[i].stream->has_unsent();
  }
  return left;
}

void Link::take_up() {
  for (const Rail& rail : rails_) {
    if (rail.stream != nullptr) rail.stream->set_room(rail.room);
  }
}

// For a moment's worth of data, so that frames do not stand long behind it: less would keep the
// rail waiting for us.
void Link::make_room(Rail& rail, Time now) {
  if (now - rail.weighed < weigh_every) return;
  rail.weighed = now;
  const auto rate = static_cast<double>(health_of(rail.stream->socket()).delivered);
  const auto moment = static_cast<std::size_t>(rate * room_for.in_seconds());
  rail.room = std::clamp(moment, least_room, most_room);
  rail.stream->set_room(rail.room);
}

void Link::send_in_order(RailId wish, Outgoing&& outgoing, bool more) {
  outgoing.record.sequence = next_out_++;
  if (const auto rail = pick(wish)) {
    rails_[*rail].stream->push(std::move(outgoing));
    if (!more) pump(*rail);
  } else {
    homeless_.push_back(std::move(outgoing));
  }
}

void Link::send_kept() {
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].stream != nullptr && rails_[i].stream->has_unsent()) pump(i);
  }
}

void Link::post(const Way& way, const FrameHead& head, Payload payload, bool stable,
                std::uint64_t cookie) {
  Outgoing outgoing;
  outgoing.record.kind = RecordKind::frame;
  outgoing.record.size = payload.size;
  outgoing.record.head = head;
  outgoing.cookie = cookie;
  outgoing.data = payload.data;
  if (!stable || payload.data == nullptr) {
    outgoing.owned = payload.data == nullptr ? std::make_unique<std::byte[]>(payload.size)
                                             : copy_of(payload.data, payload.size);
    outgoing.data = outgoing.owned.get();
  }
  send_in_order(way.rail, std::move(outgoing), way.more);
}

void Link::write(RailId rail, Payload payload, RemoteMemory target, const FrameHead& notice,
                 std::uint64_t cookie) {
  if (rail.index >= rails_.size() && lanes_ != nullptr &&
      lanes_->write(rail.index - rails_.size(), payload, target, notice, cookie)) {
    return;
  }
  Outgoing outgoing;
  outgoing.record.kind = RecordKind::write;
  outgoing.record.size = payload.size;
  outgoing.record.key = target.key;
  outgoing.record.offset = target.offset;
  outgoing.record.head = notice;
  outgoing.cookie = cookie;
  outgoing.data = payload.data;
  if (lanes_ != nullptr) outgoing.record.sequence = lanes_->revoked(target.key);
  // What an RDMA rail does not take goes over a connection.
  const bool anywhere = rail.index >= rails_.size();
  const auto index = anywhere ? pick(RailId(0)) : std::optional(rail.index);
  if (index && rails_[*index].stream != nullptr) {
    push(*index, std::move(outgoing));
  } else {
    return_write(rail.index, cookie);
  }
}

void Link::return_write(std::uint32_t index, std::uint64_t cookie) {
  Completion unsent;
  unsent.kind = Completion::Kind::unsent;
  unsent.peer = peer_;
  unsent.rail = RailId(index);
  unsent.cookie = cookie;
  host_.tell(std::move(unsent));
}

void Link::send_control(const Record& record, const std::string& data) {
  Outgoing outgoing;
  outgoing.record = record;
  outgoing.record.size = data.size();
  outgoing.owned = copy_of(reinterpret_cast<const std::byte*>(data.data()), data.size());
  outgoing.data = outgoing.owned.get();
  if (record.kind != RecordKind::ask && record.kind != RecordKind::answer) {
    send_in_order(RailId(0), std::move(outgoing));
  } else if (const auto rail = pick(RailId(0))) {
    push(*rail, std::move(outgoing));
  }
}

void Link::tell_lane(std::size_t lane, Completion::Kind kind, std::uint64_t cookie) {
  Completion told;
  told.kind = kind;
  told.peer = peer_;
  told.rail = RailId(static_cast<std::uint32_t>(rails_.size() + lane));
  told.cookie = cookie;
  host_.tell(std::move(told));
}

bool Link::take_back(std::uint64_t cookie) {
  std::uint64_t region = 0;
  const bool taken = std::any_of(rails_.begin(), rails_.end(), [&](const Rail& rail) {
    return rail.stream != nullptr && rail.stream->take_back(cookie, region);
  });
  if (region != 0 && lanes_ != nullptr) lanes_->doubt(region);
  return taken;
}

}  // namespace weft::wire
