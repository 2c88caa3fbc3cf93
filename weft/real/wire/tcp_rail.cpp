// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/real/wire/tcp_rail.hpp>

namespace weft::wire {

namespace {

// A connection on which nothing has been acknowledged for this long, while another rail is up, is
// given up: the kernel would wait ten times as long.
constexpr Duration stall_limit = Duration::ms(120);
constexpr Duration retry_first = Duration::ms(20);
constexpr Duration retry_most = Duration::ms(300);
constexpr std::size_t everything = std::size_t{1} << 30;
constexpr Duration measure_every = Duration::ms(10);
constexpr Duration room_for = Duration::us(250);
constexpr std::size_t least_room = std::size_t{16} << 10;
constexpr std::size_t most_room = std::size_t{1} << 20;

Duration retry_after(int failures) {
  Duration wait = retry_first;
  for (int i = 1; i < failures && wait < retry_most; ++i) wait = wait * 2;
  return std::min(wait, retry_most);
}

// How long a call may take before it is made anew: what was sent into a dead rail is sent again by
// the kernel after a second at the earliest. Every fourth try leaves time for long distances.
Duration dial_limit(int failures) {
  return Duration::ms(250) * (1 + failures % 4);
}

}  // namespace

void TcpRail::open(Time now) {
  if (state() == RailState::down) begin_dial(now);
}

void TcpRail::await_call(Time now) {
  next_try_ = now + retry_most;
}

void TcpRail::begin_dial(Time now) {
  next_try_ = now + retry_after(++failures_);
  if (setting_.keep_free > 0 && descriptors_left() < setting_.keep_free) {
    host().no_descriptor(now);
    return;
  }
  auto socket = connect_from(route_.from, route_.to, route_.port);
  if (!socket) {
    // The interface is down, and we try another time; or there are no descriptors.
    if (descriptors_left() == 0) host().no_descriptor(now);
    return;
  }
  const Claim claim{.from = setting_.self,
                    .to = host().peer().index,
                    .rail = route_.number,
                    .cipher = static_cast<std::uint32_t>(route_.cipher),
                    .connection = fresh_name(),
                    .replaces = connection_};
  prepare(*socket, setting_.lost_after);  // An unanswered call ends as silent rails do.
  dial_ = std::make_unique<Dial>(std::move(*socket), setting_.secret, claim, now);
  follow(RailEvent::dialed);
  host().watch(*this, dial_->socket().get(), true);
}

void TcpRail::drop_dial(RailEvent why) {
  follow(why);
  dial_.reset();
}

void TcpRail::cancel() {
  if (dial_ != nullptr) drop_dial(RailEvent::cancelled);
}

void TcpRail::end_dial(Time now) {
  const Step progress = dial_->advance();
  if (state() == RailState::connecting && !dial_->connecting()) {
    follow(RailEvent::answered);
    host().watch(*this, dial_->socket().get(), false);
  }
  if (progress == Step::wait) return;
  if (progress == Step::failed) return drop_dial(RailEvent::failed);
  // Taken: the peer's own connection is under way. If it does not come, we try again.
  if (dial_->verdict() == Verdict::taken) return drop_dial(RailEvent::turned_away);
  const std::unique_ptr<Dial> dial = std::move(dial_);
  const Stream::Facts facts{dial->claim().connection, true, setting_.largest_frame,
                            route_.from.node};
  auto stream = std::make_unique<Stream>(dial->take(), facts);
  if (protected_rail()) stream->protect(dial->keys(), route_.cipher);
  use(RailEvent::welcomed, std::move(stream), now);
}

// Two processes may connect to each other at once. The connection that the lower rank opened stays;
// one that its owner says is dead is replaced.
Verdict TcpRail::judge(const Claim& claim) const {
  const bool peer_first = host().peer().index < setting_.self;
  if (claim.cipher != static_cast<std::uint32_t>(route_.cipher)) return Verdict::taken;
  if (stream_ != nullptr && claim.replaces == stream_->facts().name) return Verdict::welcome;
  if (stream_ != nullptr && stream_->facts().ours && !peer_first) return Verdict::taken;
  if (dial_ != nullptr && !peer_first) return Verdict::taken;
  return Verdict::welcome;
}

void TcpRail::admit(Descriptor socket, const Claim& claim, const SessionKeys& keys, Time now) {
  const Stream::Facts facts{claim.connection, false, setting_.largest_frame, route_.from.node};
  auto stream = std::make_unique<Stream>(std::move(socket), facts);
  if (protected_rail()) stream->protect(keys, route_.cipher);
  use(RailEvent::peer_connected, std::move(stream), now);
}

void TcpRail::use(RailEvent how, std::unique_ptr<Stream> stream, Time now) {
  std::unique_ptr<Stream> old = std::exchange(stream_, std::move(stream));
  const bool replaces = follow(how) == RailAction::replace;
  dial_.reset();
  prepare(stream_->socket(), setting_.lost_after);
  connection_ = stream_->facts().name;
  failures_ = 0;
  latency_ = health_of(stream_->socket()).round_trip / 2;
  watched_for_room_ = false;
  room_ = Stream::first_room;
  host().watch(*this, stream_->socket().get(), false);
  if (replaces) hand_back(std::move(old), now, false);
  host().rail_up(*this);
}

void TcpRail::give_up(RailEvent why, Time now) {
  const bool tell_peer = follow(why) == RailAction::tell_peer_of_repeat;
  next_try_ = now + retry_after(failures_);
  hand_back(std::move(stream_), now, tell_peer);
}

void TcpRail::hand_back(std::unique_ptr<Stream> stream, Time now, bool tell_peer) {
  settle(*stream, now);
  const bool closing = host().closing();
  // While a link closes nothing follows, and the kernel should hear that its last bytes arrived.
  if (!closing) stop_receiving(stream->socket());
  // Our kernel has acknowledged it, so the peer does not send it again.
  late_.add(stream->read_rest(host().regions()));
  EndedConnection ended;
  if (tell_peer || protected_rail()) ended = {stream->facts().name, stream->settled()};
  if (protected_rail() && !closing) note_ended(*stream);
  host().rail_down(*this, stream->give_up(), ended);
  if (!late_.empty()) host().readable(*this);
  if (closing) {
    stream->close();
  } else {
    stream->drop();
  }
}

// So many that the peer's report of one comes before it is forgotten.
void TcpRail::note_ended(const Stream& stream) {
  constexpr std::size_t most = 64;
  if (ended_.size() == most) ended_.pop_front();
  ended_.push_back({stream.facts().name, stream.opened()});
}

// Our kernel has acknowledged only what we have read since. If more was acknowledged, somebody on
// the way did it, and what is missing will never come.
void TcpRail::reported_broken(const EndedConnection& connection, Time now) {
  if (stream_ != nullptr && stream_->facts().name == connection.name) {
    give_up(RailEvent::reported_broken, now);
  }
  for (const EndedConnection& ours : ended_) {
    if (ours.name != connection.name || ours.settled >= connection.settled) continue;
    host().data_changed(*this);
    return;
  }
}

void TcpRail::send(const Frame& frame) {
  stream_->push(outgoing_from(frame));
  if (!frame.more) pump();
}

bool TcpRail::write(const RemoteWrite& write) {
  if (stream_ == nullptr) return false;
  forward(outgoing_from(write));
  return true;
}

void TcpRail::forward(Outgoing&& record) {
  stream_->push(std::move(record));
  pump();
}

// Code that fills the socket must also say whether to be told of room: a watch that stays would
// report room all the time.
void TcpRail::pump() {
  // What the peer sent before the connection broke is still to be read.
  if (!stream_->pump_out()) host().readable(*this);
  const bool wants_room = stream_->has_unsent();
  if (wants_room == watched_for_room_) return;
  watched_for_room_ = wants_room;
  host().watch(*this, stream_->socket().get(), wants_room);
}

void TcpRail::flush() {
  if (stream_ != nullptr && stream_->has_unsent()) pump();
}

bool TcpRail::take_back(std::uint64_t cookie, std::uint64_t& region) {
  return stream_ != nullptr && stream_->take_back(cookie, region);
}

bool TcpRail::let_go() {
  if (stream_ == nullptr || !stream_->has_unsent()) return false;
  stream_->set_room(everything);
  pump();
  return stream_->has_unsent();
}

void TcpRail::take_up() {
  if (stream_ != nullptr) stream_->set_room(room_);
}

// Room for a moment's worth of data, so that frames do not wait long behind it; less would keep the
// rail waiting for us.
void TcpRail::make_room(Time now) {
  if (now - measured_ < measure_every) return;
  measured_ = now;
  const auto rate = static_cast<double>(health_of(stream_->socket()).delivered);
  const auto moment = static_cast<std::size_t>(rate * room_for.in_seconds());
  room_ = std::clamp(moment, least_room, most_room);
  stream_->set_room(room_);
}

bool TcpRail::outstanding() const {
  return stream_ != nullptr && (stream_->has_unacknowledged() || stream_->has_unsent());
}

void TcpRail::stir(bool readable, Time now) {
  if (dial_ != nullptr) end_dial(now);
  if (stream_ == nullptr) return;
  if (readable) host().readable(*this);
  if (stream_->has_unsent() || watched_for_room_) pump();
}

// A connection that the peer or the kernel has ended is noticed here.
bool TcpRail::poll(Completion& out, Arrival& arrival) {
  if (!late_.empty()) {
    hand_on(late_.take(host().regions()), out, arrival);
    return true;
  }
  if (stream_ == nullptr) return false;
  Incoming in;
  switch (stream_->next(in, host().regions())) {
    case Stream::Got::nothing:
      return false;
    case Stream::Got::closed:
    case Stream::Got::broken: {
      const bool changed = stream_->changed();
      give_up(RailEvent::broken, host().now());
      if (changed) host().data_changed(*this);
      return false;
    }
    case Stream::Got::record:
      break;
  }
  hand_on(std::move(in), out, arrival);
  return true;
}

void TcpRail::settle(Stream& stream, Time now) {
  stream.settle(acknowledged_, now);
  for (const std::uint64_t cookie : acknowledged_) {
    host().report(*this, Completion::Kind::sent, cookie);
  }
  acknowledged_.clear();
}

void TcpRail::tend(Time now) {
  if (up()) {
    tend_stream(now);
  } else if (!host().closing()) {
    tend_dial(now);
  }
}

void TcpRail::tend_dial(Time now) {
  if (state() == RailState::connecting && now - dial_->since() > dial_limit(failures_)) {
    drop_dial(RailEvent::timed_out);
  }
  if (state() == RailState::proving) host().peer_answers(now);
  if (state() == RailState::down && host().may_connect() && now >= next_try_) begin_dial(now);
}

// A connection on which nothing moves any more is noticed here.
void TcpRail::tend_stream(Time now) {
  if (stream_->has_unsent()) make_room(now);
  if (stream_->has_unsent() || watched_for_room_) pump();
  settle(*stream_, now);
  if (!stream_->has_unacknowledged()) {
    if (host().may_close(now) && !stream_->has_unsent()) give_up(RailEvent::drained, now);
    return;
  }
  // The last rail is left to the kernel for longer; then a new call finds out sooner than the
  // kernel, which tries more and more rarely.
  const Duration limit = host().others_up(*this) ? stall_limit : setting_.lost_after / 2;
  if (now - stream_->progress() < limit) return;
  const Health health = health_of(stream_->socket());
  if (health.open && health.silent >= limit) give_up(RailEvent::stalled, now);
}

}  // namespace weft::wire
