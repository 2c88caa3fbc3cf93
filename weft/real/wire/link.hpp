// SPDX-License-Identifier: Apache-2.0
// A peer on another host, over all rails that the two hosts have in common. Frames arrive once and
// in order, whatever happens to single rails: they are numbered, and what a rail that died may have
// lost goes again over the others. Writes are given back to who cut them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/wire/connection_life.hpp>
#include <weft/real/wire/dial.hpp>
#include <weft/real/wire/ofi_lanes.hpp>
#include <weft/real/wire/stream.hpp>

namespace weft::wire {

// What all links of a process share.
struct LinkSetting {
  RankId self;
  JobSecret secret = {};
  Duration lost_after;
  std::size_t largest_frame = std::size_t{1} << 30;
  std::uint32_t keep_free = 0;  // Descriptors, where they are scarce.
};

// Where links tell what happened, and have their sockets watched.
class LinkHost {
 public:
  virtual ~LinkHost() = default;
  virtual void tell(Completion&& completion) = 0;
  virtual void lose(RankId peer, const std::string& reason) = 0;
  virtual void watch(const Descriptor& socket, RankId peer, RailId rail, bool out) = 0;
  virtual const Regions& regions() const = 0;
  virtual Time now() const = 0;
};

class Link : private LaneHost {
 public:
  struct Route {
    locality::Interface from;
    locality::Address to;
    std::uint16_t port = 0;
  };
  Link(const LinkSetting& setting, RankId peer, std::vector<Route> routes, LinkHost& host);

  // RDMA rails come after the others. `alone`: as long as one of them is up, the others carry no
  // data but frames.
  void add_lanes(Ofi& ofi, std::vector<OfiLanes::Route> routes, bool alone);

  int rails() const { return static_cast<int>(rails_.size() + lane_count()); }
  RailFacts rail(RailId rail) const;
  std::string name_of(RailId rail) const;  // Of the interface or card.
  // Something said now will be heard, or the peer reported lost.
  bool open() const {
    return state_ != LinkState::idle && state_ != LinkState::left && state_ != LinkState::lost;
  }

  void connect(Time now) { follow(LinkEvent::connect, now); }
  // Closes the connections. The peer does, too, and nothing is under way. A frame opens them again.
  void disconnect(Time now);
  bool up() const { return any_up(); }
  bool idle() const { return state_ == LinkState::idle && readable_ == 0 && early_.empty(); }
  // If more follows, it may stay here until that comes, or until send_kept.
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie);
  void send_kept();
  void write(RailId rail, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie);
  bool take_back(std::uint64_t cookie);
  // The process goes off to compute: the kernel gets all that it takes. Then it is back.
  bool let_go();  // true: it has not taken everything.
  void take_up();
  // The memory of this key may be written by the peer.
  void share(std::uint64_t key, std::byte* data, std::size_t size) {
    if (lanes_ != nullptr) lanes_->share(key, data, size);
  }

  // A socket of this rail has something; what it had is then asked for by next().
  void stir(RailId rail, bool readable, Time now);
  // The next frame or notice of a write; false: none for now.
  bool next(Completion& out);
  bool readable() const { return readable_ != 0; }
  // What was acknowledged; what stalls; what should be tried again. Now and then.
  void tend(Time now);
  bool outstanding() const;  // Acknowledgements are awaited.
  bool settled() const;      // All rails are up, and nothing is under way: no clock matters.
  bool owes() const;         // of something that the peer will miss.

  // The peer connects to us: shall it? Then its socket comes.
  Verdict judge(const Claim& claim) const;
  void admit(Descriptor socket, const Claim& claim, Time now);

  // The peer's process has ended; what it sent still counts.
  void process_ended() { follow(LinkEvent::process_ended, host_.now()); }
  void say_goodbye();

 private:
  struct Rail {
    Route route;
    TcpState state = TcpState::down;
    std::unique_ptr<Stream> stream;  // While it is up.
    std::unique_ptr<Dial> dial;      // While it is connecting or proving.
    std::uint64_t name = 0;          // Of the latest connection.
    Time next_try;
    int failures = 0;
    Duration latency;
    bool watched_out = false;
    Time weighed;
    std::size_t room = 0;  // For data in the kernel that has not been sent.
  };

  // Takes a step in the life of the link, and does what follows from it.
  void follow(LinkEvent event, Time now);
  void dial_rails(Time now);
  void announce_close(Time now);
  void finish_closing(Time now);
  void report_lost(LinkState before);
  bool closing() const {
    return state_ == LinkState::closing || state_ == LinkState::peer_closing ||
           state_ == LinkState::draining;
  }
  void close_when_down(Time now);

  void begin_dial(std::uint32_t index, Time now);
  void drop_dial(std::uint32_t index, TcpEvent why);
  void cancel_dials();
  void lack_descriptor(Time now);
  void end_dial(std::uint32_t index, Time now);
  void use(std::uint32_t index, TcpEvent how, std::unique_ptr<Stream> stream, Time now);
  void give_up(std::uint32_t index, TcpEvent why, Time now);
  void repeat_elsewhere(std::uint32_t index, Time now, bool tell_peer);
  void repeat(std::uint32_t index, Outgoing&& outgoing);
  void tend_dial(std::uint32_t index, Time now);
  void tend_stream(std::uint32_t index, Time now);
  void push(std::uint32_t index, Outgoing&& outgoing);
  void pump(std::uint32_t index);
  void make_room(Rail& rail, Time now);
  void send_in_order(RailId wish, Outgoing&& outgoing, bool more = false);
  std::optional<std::uint32_t> pick(RailId wish) const;
  bool deliver(Incoming& in, std::uint32_t index, Completion& out);
  bool take_early(Completion& out);
  bool take(const Record& record, const std::byte* data, std::uint32_t index, Completion& out);
  void send_control(const Record& record, const std::string& data) override;
  void tell_lane(std::size_t lane, Completion::Kind kind, std::uint64_t cookie) override;
  Time clock() const override { return host_.now(); }
  std::size_t lane_count() const { return lanes_ == nullptr ? 0 : lanes_->count(); }
  void return_write(std::uint32_t index, std::uint64_t cookie);
  void tell_rail(std::uint32_t index, Completion::Kind kind);
  bool any_up() const;
  bool say(RecordKind kind);

  const LinkSetting& setting_;
  RankId peer_;
  LinkHost& host_;
  std::vector<Rail> rails_;
  std::uint64_t readable_ = 0;  // Rails to be read, a bit each.
  LinkState state_ = LinkState::idle;
  Time closing_since_;
  Time all_down_since_;
  std::optional<Time> no_descriptor_since_;
  bool connect_later_ = false;  // As soon as the old connections are closed.
  bool was_up_ = false;         // Once, on any rail.
  std::uint64_t next_out_ = 0, next_in_ = 0;
  std::deque<Outgoing> homeless_;  // In order, until a rail is up.
  struct Early {
    Record record;
    std::unique_ptr<std::byte[]> data;
    RailId rail;
  };
  std::map<std::uint64_t, Early> early_;
  std::vector<std::uint64_t> done_;
  std::unique_ptr<OfiLanes> lanes_;
  bool lanes_alone_ = false;
};

}  // namespace weft::wire
