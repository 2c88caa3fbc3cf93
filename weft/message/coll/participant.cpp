// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <weft/message/coll/participant.hpp>

namespace weft::coll {

namespace {
// The lane occupies the bits above the call counter, so that messages of other kinds that take
// their tags from the same counter never match these.
int wire_tag(const Team& team, Lane lane) {
  return (team.tag & 0x3fffffff) | (static_cast<int>(lane) << 30);
}
}  // namespace

mp::Request* Participant::send(const Peer& to, const std::byte* data, std::size_t size, Lane lane) {
  mp::Sending sending;
  sending.to = to.id;
  sending.context = to.context;
  sending.source = team_.rank;
  sending.tag = wire_tag(team_, lane);
  sending.data = carries_ ? data : nullptr;
  // A rank with an error sends an empty message, which its receiver recognises as too short.
  sending.size = error_ == ok ? size : 0;
  sending.internal = always_;
  return team_.m.send(sending);
}

mp::Request* Participant::receive(const Peer& from, std::byte* data, std::size_t size, Lane lane) {
  mp::Receiving receiving;
  receiving.context = from.context;
  receiving.source = from.rank;
  receiving.from = from.id;
  receiving.tag = wire_tag(team_, lane);
  receiving.data = carries_ ? data : nullptr;
  receiving.size = size;
  receiving.internal = always_;
  return team_.m.receive(receiving);
}

void Participant::settle(mp::Request* request, std::size_t* arrived) {
  if (request->failed) {
    note(peer_lost);
    // What this rank would still send says nothing of its error where messages are empty anyway: in
    // a barrier others would take it for the arrival of those that are lost.
    team_.m.revoke(team_.context);
  }
  if (request->kind == mp::Request::Kind::receive && !request->failed) {
    if (request->arrival.truncated) note(truncated);
    if (arrived != nullptr) {
      *arrived = request->arrival.size;
    } else if (request->arrival.size < request->size) {
      note(incomplete);
    }
  }
  team_.m.release(request);
}

void Participant::copy(std::byte* to, const std::byte* from, std::size_t size) {
  if (size == 0) return;
  team_.m.fabric().processor.copy(carries_ ? to : nullptr, carries_ ? from : nullptr, size);
}

void Participant::move(std::byte* to, const std::byte* from, std::size_t size) const {
  if (carries_ && size > 0) std::memmove(to, from, size);
}

void Participant::reduce(const Reducer& reducer, const std::byte* in, std::byte* inout,
                         std::int64_t count) {
  if (count == 0) return;
  team_.m.fabric().processor.charge(Work::reduction,
                                    static_cast<std::size_t>(count) * reducer.element_size);
  if (carries_) reducer.apply(in, inout, count, reducer.arg);
}

void Running::take(bool from_above, std::int64_t first, std::int64_t count) {
  const std::size_t offset = static_cast<std::size_t>(first) * reducer_.element_size;
  if (from_above || reducer_.commutative) {
    station_.reduce(reducer_, at(value(), offset), at(room(), offset), count);
    place_ = place_ == a ? b : a;
    return;
  }
  if (place_ == own) {
    station_.copy(at(b_, offset), at(own_, offset),
                  static_cast<std::size_t>(count) * reducer_.element_size);
    place_ = b;
  }
  station_.reduce(reducer_, at(room(), offset), at(place_ == a ? a_ : b_, offset), count);
}

}  // namespace weft::coll
