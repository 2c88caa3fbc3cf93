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
constexpr Duration descriptor_limit = Duration::ms(1000);
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
  return !closing() && !outstanding() &&
         std::all_of(rails_.begin(), rails_.end(),
                     [](const Rail& rail) { return rail.stream != nullptr; });
}

bool Link::owes() const {
  if (state_ == LinkState::left || state_ == LinkState::lost) return false;
  if (lanes_ != nullptr && lanes_->busy()) return true;
  return !homeless_.empty() || std::any_of(rails_.begin(), rails_.end(), [](const Rail& rail) {
    return rail.stream != nullptr && rail.stream->owes();
  });
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
      for (Rail& rail : rails_) rail.next_try = now + retry_most;
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
      tell_rail(0, Completion::Kind::refused);
      break;
  }
}

void Link::dial_rails(Time now) {
  all_down_since_ = now;
  for (std::uint32_t i = 0; i < rails_.size() && state_ == LinkState::open; ++i) {
    if (rails_[i].state == TcpState::down) begin_dial(i, now);
  }
}

void Link::disconnect(Time now) {
  // RDMA rails need connections for keys and notices.
  if (lanes_ == nullptr) follow(LinkEvent::disconnect, now);
}

void Link::announce_close(Time now) {
  cancel_dials();
  if (!say(RecordKind::parting)) follow(LinkEvent::rails_down, now);
}

void Link::close_when_down(Time now) {
  if (closing() && !any_up()) follow(LinkEvent::rails_down, now);
}

void Link::finish_closing(Time now) {
  for (Rail& rail : rails_) rail.failures = 0;
  if (std::exchange(connect_later_, false) || !homeless_.empty()) connect(now);
}

void Link::report_lost(LinkState before) {
  cancel_dials();
  if (lanes_ != nullptr) lanes_->end();
  const bool no_descriptor = no_descriptor_since_.has_value();
  host_.lose(peer_, before == LinkState::dying ? "its process has ended"
                    : no_descriptor
                        ? "there is no descriptor for a connection to it: raise the limit "
                          "(ulimit -n), or let others relay (--connections managed)"
                        : "no rail leads to it any more");
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
    lack_descriptor(now);
    return;
  }
  auto socket = connect_from(rail.route.from, rail.route.to, rail.route.port);
  if (!socket) {
    // The interface is down, and we try another time; or there are no descriptors.
    if (descriptors_left() == 0) lack_descriptor(now);
    return;
  }
  const Claim claim{.from = setting_.self.index,
                    .to = peer_.index,
                    .rail = index,
                    .connection = fresh_name(),
                    .replaces = rail.name};
  prepare(*socket, setting_.lost_after);  // A call that nobody answers ends as silent rails do.
  rail.dial = std::make_unique<Dial>(std::move(*socket), setting_.secret, claim, now);
  step(rail.state, TcpEvent::dialed);
  host_.watch(rail.dial->socket(), peer_, RailId(index), true);
}

void Link::drop_dial(std::uint32_t index, TcpEvent why) {
  Rail& rail = rails_[index];
  step(rail.state, why);
  rail.dial.reset();
}

void Link::cancel_dials() {
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i].dial != nullptr) drop_dial(i, TcpEvent::cancelled);
  }
}

// Other connections may just be closing: wait a moment before giving up.
void Link::lack_descriptor(Time now) {
  if (any_up()) return;
  if (!no_descriptor_since_) no_descriptor_since_ = now;
  if (!homeless_.empty() || now - *no_descriptor_since_ < descriptor_limit) return;
  follow(LinkEvent::no_descriptor, now);
}

void Link::end_dial(std::uint32_t index, Time now) {
  Rail& rail = rails_[index];
  const Step progress = rail.dial->advance();
  if (rail.state == TcpState::connecting && !rail.dial->connecting()) {
    step(rail.state, TcpEvent::answered);
    host_.watch(rail.dial->socket(), peer_, RailId(index), false);
  }
  if (progress == Step::wait) return;
  if (progress == Step::failed) return drop_dial(index, TcpEvent::failed);
  // Taken: the peer's own connection is under way. If it does not come, we try again.
  if (rail.dial->verdict() == Verdict::taken) return drop_dial(index, TcpEvent::turned_away);
  const std::unique_ptr<Dial> dial = std::move(rail.dial);
  use(index, TcpEvent::welcomed,
      std::make_unique<Stream>(dial->take(),
                               Stream::Facts{dial->claim().connection, true, setting_.largest_frame,
                                             rail.route.from.node}),
      now);
}

// Two processes may connect to each other at once. The one opened by the lower rank stays; one that
// its owner says is dead is replaced.
Verdict Link::judge(const Claim& claim) const {
  if (claim.rail >= rails_.size() || state_ == LinkState::lost) return Verdict::taken;
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
  use(claim.rail, TcpEvent::peer_connected,
      std::make_unique<Stream>(std::move(socket),
                               Stream::Facts{claim.connection, false, setting_.largest_frame,
                                             rails_[claim.rail].route.from.node}),
      now);
}

void Link::use(std::uint32_t index, TcpEvent how, std::unique_ptr<Stream> stream, Time now) {
  Rail& rail = rails_[index];
  if (step(rail.state, how) == TcpAction::replace) repeat_elsewhere(index, now, false);
  rail.dial.reset();
  follow(LinkEvent::rail_up, now);
  prepare(stream->socket(), setting_.lost_after);
  rail.name = stream->facts().name;
  rail.stream = std::move(stream);
  was_up_ = true;
  no_descriptor_since_.reset();
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

void Link::give_up(std::uint32_t index, TcpEvent why, Time now) {
  const TcpAction action = step(rails_[index].state, why);
  repeat_elsewhere(index, now, action == TcpAction::tell_peer_of_repeat);
}

// What the connection may have lost goes over other rails; writes go back to the message layer.
void Link::repeat_elsewhere(std::uint32_t index, Time now, bool tell_peer) {
  Rail& rail = rails_[index];
  const std::unique_ptr<Stream> stream = std::move(rail.stream);
  stream->settle(done_, now);
  std::vector<Outgoing> left = stream->give_up();
  readable_ &= ~(std::uint64_t{1} << index);
  rail.next_try = now + retry_after(rail.failures);
  if (!any_up()) all_down_since_ = now;
  tell_rail(index, Completion::Kind::rail_down);
  if (tell_peer && pick(RailId(0))) {
    Outgoing dead;
    dead.record.kind = RecordKind::rail_dead;
    dead.record.key = stream->facts().name;
    dead.record.offset = index;
    push(*pick(RailId(0)), std::move(dead));
  }
  for (Outgoing& outgoing : left) repeat(index, std::move(outgoing));
  if (closing()) {
    stream->close();
  } else {
    stream->drop();
  }
}

void Link::repeat(std::uint32_t index, Outgoing&& outgoing) {
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
    case RecordKind::more:
      if (outgoing.cookie == 0) break;  // Taken back, or a piece of one that follows.
      if (lanes_ != nullptr) lanes_->doubt(outgoing.record.key);
      return_write(index, outgoing.cookie);
      break;
    case RecordKind::rail_dead:
    case RecordKind::goodbye:
    case RecordKind::parting:
    case RecordKind::ask:
    case RecordKind::answer:
      break;
  }
}

std::optional<std::uint32_t> Link::pick(RailId wish) const {
  if (closing()) return std::nullopt;
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

void Link::post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
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
  send_in_order(path.rail, std::move(outgoing), path.more);
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
