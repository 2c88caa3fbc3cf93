// SPDX-License-Identifier: Apache-2.0
// A peer that several rails lead to. Frames arrive once and in order, whatever happens to single
// rails: they are numbered, and what a broken rail may have lost goes again over the others. Writes
// are given back to the message layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/connection_life.hpp>
#include <weft/real/wire/rail.hpp>

namespace weft::wire {

// Where links tell what happened, and have their descriptors watched.
class LinkHost {
 public:
  virtual ~LinkHost() = default;
  virtual void tell(Completion&& completion) = 0;
  virtual void lose(RankId peer, const std::string& reason) = 0;
  virtual void watch(int descriptor, RankId peer, RailId rail, bool for_room) = 0;
  virtual const Regions& regions() const = 0;
  virtual Time now() const = 0;
};

class Link final : public LinkRailHost {
 public:
  static constexpr std::size_t most_rails = 64;
  Link(RankId peer, Duration lost_after, LinkHost& host)
      : peer_(peer), lost_after_(lost_after), host_(host) {}

  // The same rails in the same order on both sides.
  void add(std::unique_ptr<LinkRail> rail);

  int rails() const { return static_cast<int>(rails_.size()); }
  bool carries_frames() const;
  RailFacts rail(RailId rail) const;
  std::string name_of(RailId rail) const { return rails_[rail.index]->name(); }
  // Something said now will be heard, or the peer reported lost.
  bool open() const {
    return state_ != LinkState::idle && state_ != LinkState::left && state_ != LinkState::lost;
  }
  bool lost() const { return state_ == LinkState::lost; }

  void connect(Time now) { follow(LinkEvent::connect, now); }
  // REQUIRES: the peer closes too, nothing is in flight. The next frame reconnects.
  void disconnect(Time now);
  bool up() const { return any_up(); }
  // All that came over this rail was heard, and no older connection is still closing.
  bool may_reconnect(RailId rail) const {
    return (readable_ & bit(rail.index)) == 0 && !(closing() && any_up());
  }
  bool idle() const { return state_ == LinkState::idle && readable_ == 0 && early_.empty(); }
  // If more follows, it may stay here until that comes, or until flush.
  void post(RailId wish, Frame frame);
  void flush();
  void write(RailId rail, RemoteWrite write);
  bool take_back(std::uint64_t cookie);
  // Call before the program computes: hands all data to the kernel. take_up() undoes it.
  bool let_go();  // true: it has not taken everything.
  void take_up();
  // The memory of this key may be written by the peer.
  void share(std::uint64_t key, std::byte* data, std::size_t size);

  // A descriptor of this rail has something; what it had is then asked for by next().
  void stir(RailId rail, bool is_readable, Time now);
  // The next frame or notice of a write; false: none for now.
  bool next(Completion& out);
  bool has_readable() const { return readable_ != 0; }
  // Call periodically: handles acknowledgements, stalls and retries.
  void tend(Time now);
  bool outstanding() const;  // Acknowledgements are awaited.
  bool settled() const;      // All rails are up, and nothing is under way: no clock matters.
  bool owes() const;         // The peer would miss something if we ended now.

  // The peer's process has ended; what it sent still counts.
  void process_ended() { follow(LinkEvent::process_ended, host_.now()); }
  void say_goodbye();

 private:
  // LinkRailHost
  RankId peer() const override { return peer_; }
  Time now() const override { return host_.now(); }
  const Regions& regions() const override { return host_.regions(); }
  void watch(const LinkRail& rail, int descriptor, bool for_room) override;
  void readable(const LinkRail& rail) override { readable_ |= bit(rail.index()); }
  void rail_up(LinkRail& rail) override;
  void rail_down(LinkRail& rail, std::vector<Outgoing>&& left,
                 const EndedConnection& ended) override;
  void data_changed(const LinkRail& rail) override;
  void report(const LinkRail& rail, Completion::Kind kind, std::uint64_t cookie) override;
  void send_control(const Record& record, const std::string& data) override;
  bool may_connect() const override { return state_ == LinkState::open; }
  void no_descriptor(Time now) override;
  void peer_answers(Time now) override { all_down_since_ = now; }
  bool others_up(const LinkRail& rail) const override;
  bool closing() const override {
    return state_ == LinkState::closing || state_ == LinkState::peer_closing ||
           state_ == LinkState::draining;
  }
  bool may_close(Time now) const override;

  // Takes a step in the life of the link, and does what follows from it.
  void follow(LinkEvent event, Time now);
  void dial_rails(Time now);
  void announce_close(Time now);
  void close_when_down(Time now);
  void finish_closing(Time now);
  void report_lost(LinkState before);
  void cancel_dials();
  bool say(RecordKind kind);
  void tell_of_end(Outgoing&& dead);
  void repeat(const LinkRail& rail, Outgoing&& outgoing);

  static std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index; }
  bool any_up() const;
  bool writes_elsewhere() const;
  LinkRail* pick(RailId wish) const;
  void doubt(std::uint64_t region);
  bool deliver(Completion& out, const Arrival& arrival);
  bool take_early(Completion& out);
  bool take(const Record& record, Completion& out);

  RankId peer_;
  Duration lost_after_;
  LinkHost& host_;
  std::vector<std::unique_ptr<LinkRail>> rails_;
  std::uint64_t readable_ = 0;  // Rails to be read, a bit each.
  LinkState state_ = LinkState::idle;
  Time closing_since_;
  Time all_down_since_;
  std::optional<Time> no_descriptor_since_;
  bool connect_later_ = false;  // As soon as the old connections are closed.
  bool was_up_ = false;         // Once, on any rail.
  std::string changed_over_;    // The rail on whose way data was changed or lost.
  std::uint64_t next_out_ = 0, next_in_ = 0;
  std::deque<Outgoing> unrouted_;  // In order, until a rail is up.
  std::deque<Outgoing> untold_;    // Ended connections, of which the peer is told then.
  struct Early {
    Record record;
    std::unique_ptr<std::byte[]> data;
    RailId rail;
  };
  std::map<std::uint64_t, Early> early_;  // Came before others that were sent before them.
};

}  // namespace weft::wire
