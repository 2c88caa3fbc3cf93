// SPDX-License-Identifier: Apache-2.0
// A rail is one way to one peer: shared memory, a TCP connection between two interfaces, an RDMA
// card. Every kind of rail implements `Rail`; kinds of which a peer may have several at once
// implement `LinkRail`. The table of kinds is in rail_kinds.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/connection_life.hpp>
#include <weft/real/wire/record.hpp>
#include <weft/real/wire/regions.hpp>

namespace weft::wire {

// A frame of the message layer on its way out.
struct Frame {
  const FrameHead& head;
  Payload payload;
  std::uint64_t cookie = 0;    // 0: no completion is wanted.
  bool stable = false;         // The data stays unchanged until `sent` is reported.
  bool more = false;           // Another one follows at once: both may leave together.
  std::uint64_t sequence = 0;  // Among all frames of a link, over all of its rails.
};
Outgoing outgoing_from(const Frame& frame);

// A write into memory that the peer has opened.
struct RemoteWrite {
  Payload payload;
  RemoteMemory target;
  const FrameHead& notice;
  std::uint64_t cookie = 0;
  std::uint64_t revoked = 0;  // As LinkRail::revoked says.
};
Outgoing outgoing_from(const RemoteWrite& write);

// What came with a completion: how a link puts it into order.
struct Arrival {
  Record record;
  bool kept = true;  // false: a write into memory that is no longer open.
};

// How long a rail is expected to take.
struct RailCost {
  Rate rate;  // Zero: unknown.
  Duration latency;
};

class Rail {
 public:
  Rail() = default;
  Rail(const Rail&) = delete;
  Rail& operator=(const Rail&) = delete;
  virtual ~Rail() = default;

  RailState state() const { return state_; }
  bool up() const { return state_ == RailState::up; }
  virtual std::string name() const = 0;  // Name of the interface or card.
  virtual RailCost cost() const = 0;

  // Begins to connect, if it needs that and does not already.
  virtual void open(Time now) = 0;
  // Only while it is up.
  virtual void send(const Frame& frame) = 0;
  // false: this rail cannot carry it (now); another one has to.
  virtual bool write(const RemoteWrite& write) = 0;
  // The next thing that came; false: nothing for now.
  virtual bool poll(Completion& out, Arrival& arrival) = 0;

 protected:
  RailAction follow(RailEvent event) { return step(state_, event); }

 private:
  RailState state_ = RailState::down;
};

class LinkRail;

// A connection that was given up. The peer is told of it unless the name is 0.
struct EndedConnection {
  std::uint64_t name = 0;
  std::uint64_t settled = 0;  // Bytes that the peer's kernel has acknowledged, if it is protected.
};

// The link, as its rails see it.
class LinkRailHost {
 public:
  virtual ~LinkRailHost() = default;
  virtual RankId peer() const = 0;
  virtual Time now() const = 0;
  virtual const Regions& regions() const = 0;

  // LinkRail::stir is called when the descriptor is readable, or (`for_room`) writable.
  virtual void watch(const LinkRail& rail, int descriptor, bool for_room) = 0;
  // LinkRail::poll has something, or may have.
  virtual void readable(const LinkRail& rail) = 0;
  // A rail that carries frames can be used; or not any more, and `left` may not have arrived.
  virtual void rail_up(LinkRail& rail) = 0;
  virtual void rail_down(LinkRail& rail, std::vector<Outgoing>&& left,
                         const EndedConnection& ended) = 0;
  // What the peer sent over this rail was changed or lost on its way, and it will not send it
  // again.
  virtual void data_changed(const LinkRail& rail) = 0;
  virtual void report(const LinkRail& rail, Completion::Kind kind, std::uint64_t cookie) = 0;
  // A record of a rail's own, over whatever rail carries frames; in order with frames if its kind
  // has an order.
  virtual void send_control(const Record& record, const std::string& data) = 0;

  virtual bool may_connect() const = 0;
  virtual void no_descriptor(Time now) = 0;
  // The peer's kernel answers: its process is there, even if it does not call the library.
  virtual void peer_answers(Time now) = 0;
  virtual bool others_up(const LinkRail& rail) const = 0;
  virtual bool closing() const = 0;
  virtual bool may_close(Time now) const = 0;  // As soon as all that was sent is acknowledged.
};

// One of several rails to a peer. Frames are numbered, and what a rail may have lost when it broke
// goes over another one: the link (link.hpp) sees to both.
class LinkRail : public Rail {
 public:
  // `carries_frames`: false if it can do nothing but write into memory.
  LinkRail(LinkRailHost& host, bool carries_frames)
      : host_(host), carries_frames_(carries_frames) {}

  std::uint32_t index() const { return index_; }  // Among the rails of its link.
  void set_index(std::uint32_t index) { index_ = index; }
  bool carries_frames() const { return carries_frames_; }
  // While it is up, rails that carry frames are not wanted for writes.
  virtual bool exclusive() const { return false; }

  // Stops connecting.
  virtual void cancel() {}
  // The peer connects: wait before trying it, too.
  virtual void await_call(Time) {}
  virtual void forget_failures() {}
  // A record of the link itself, or one that another rail could not carry.
  virtual void forward(Outgoing&& record) = 0;
  // Sends what waits for more.
  virtual void flush() {}
  // Forgets a write of which nothing has left, or all; `region` is then the memory where it may
  // arrive nevertheless. false: it is in between, or unknown.
  virtual bool take_back(std::uint64_t /*cookie*/, std::uint64_t& /*region*/) { return false; }
  // Its descriptor has something.
  virtual void stir(bool /*readable*/, Time /*now*/) {}
  // Now and then: what was acknowledged, what stalls, what should be tried again.
  virtual void tend(Time now) = 0;
  virtual bool outstanding() const = 0;  // Acknowledgements are awaited.
  virtual bool owes() const = 0;         // The peer would miss something if we ended now.
  // The process goes off to compute: the kernel gets all that it takes. true: not all of it yet.
  virtual bool let_go() { return false; }
  virtual void take_up() {}
  // The peer has given up this connection.
  virtual void reported_broken(const EndedConnection& /*connection*/, Time /*now*/) {}
  // The peer is lost.
  virtual void end() {}

  // --- For rails that write into memory by themselves ---
  // Memory of ours that the peer may write into, by its key.
  virtual void share(std::uint64_t /*region*/, std::byte* /*data*/, std::size_t /*size*/) {}
  // Something for this memory may arrive twice.
  virtual void doubt(std::uint64_t /*region*/) {}
  // On which of these rails a write into this memory was given up, a bit each: goes with what
  // follows. The receiver closes the memory there.
  virtual std::uint64_t revoked(std::uint64_t /*region*/) const { return 0; }
  virtual void revoke(std::uint64_t /*region*/, std::uint64_t /*rails*/) {}
  // What send_control sent.
  virtual void hear(const Record& /*record*/, const std::byte* /*data*/) {}

 protected:
  LinkRailHost& host() const { return host_; }
  // What poll() returns for a record that has come.
  void hand_on(Incoming&& in, Completion& out, Arrival& arrival) const {
    const bool write = in.record.kind == RecordKind::write;
    out.kind = write ? Completion::Kind::written : Completion::Kind::frame;
    out.peer = host_.peer();
    out.rail = RailId(index_);
    out.cookie = 0;
    out.size = in.record.size;
    out.head = in.record.head;
    out.lent = in.lent;
    out.data = std::move(in.owned);
    arrival.record = in.record;
    arrival.kept = in.kept;
  }

 private:
  LinkRailHost& host_;
  const bool carries_frames_;
  std::uint32_t index_ = 0;
};

}  // namespace weft::wire
