// SPDX-License-Identifier: Apache-2.0
// A TCP rail: the connection to a peer between one interface here and one there. It is dialed by
// either side, proved (handshake.hpp), and used (stream.hpp); when it breaks or stalls, what may
// not have arrived is handed back, and it is dialed again after a pause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <weft/real/locality/interfaces.hpp>
#include <weft/real/wire/dial.hpp>
#include <weft/real/wire/rail.hpp>
#include <weft/real/wire/stream.hpp>

namespace weft::wire {

// What all TCP rails of a process share.
struct TcpSetting {
  std::uint32_t self = 0;
  JobSecret secret = {};
  Duration lost_after;
  std::size_t largest_frame = std::size_t{1} << 30;
  std::uint32_t keep_free = 0;  // Descriptors, where they are scarce.
};

class TcpRail final : public LinkRail {
 public:
  struct Route {
    locality::Interface from;
    locality::Address to;
    std::uint16_t port = 0;
    std::uint32_t number = 0;      // Among the TCP rails to this peer, the same on both sides.
    Cipher cipher = Cipher::none;  // The same on both sides.
  };
  TcpRail(const TcpSetting& setting, Route route, LinkRailHost& host)
      : LinkRail(host, true), setting_(setting), route_(std::move(route)) {}

  std::string name() const override { return route_.from.name; }
  RailCost cost() const override { return {route_.from.speed, latency_}; }
  void open(Time now) override;
  void send(const Frame& frame) override;
  bool write(const RemoteWrite& write) override;
  bool poll(Completion& out, Arrival& arrival) override;

  void cancel() override;
  void await_call(Time now) override;
  void forget_failures() override { failures_ = 0; }
  void forward(Outgoing&& record) override;
  void flush() override;
  bool take_back(std::uint64_t cookie, std::uint64_t& region) override;
  void stir(bool readable, Time now) override;
  void tend(Time now) override;
  bool outstanding() const override;
  bool owes() const override { return stream_ != nullptr && stream_->owes(); }
  bool let_go() override;
  void take_up() override;
  void reported_broken(const EndedConnection& connection, Time now) override;

  // The peer connects to us: shall it? Then its socket comes.
  Verdict judge(const Claim& claim) const;
  void admit(Descriptor socket, const Claim& claim, const SessionKeys& keys, Time now);

 private:
  bool protected_rail() const { return route_.cipher != Cipher::none; }
  void begin_dial(Time now);
  void drop_dial(RailEvent why);
  void end_dial(Time now);
  void use(RailEvent how, std::unique_ptr<Stream> stream, Time now);
  void give_up(RailEvent why, Time now);
  void hand_back(std::unique_ptr<Stream> stream, Time now, bool tell_peer);
  void note_ended(const Stream& stream);
  void settle(Stream& stream, Time now);
  void tend_dial(Time now);
  void tend_stream(Time now);
  void pump();
  void make_room(Time now);

  const TcpSetting& setting_;
  Route route_;
  std::unique_ptr<Stream> stream_;     // While it is up.
  std::unique_ptr<Dial> dial_;         // While it is connecting or proving.
  std::uint64_t connection_ = 0;       // The name of the latest one.
  std::deque<EndedConnection> ended_;  // Protected ones, with the bytes that were read of each.
  LateRecords late_;
  Time next_try_;
  int failures_ = 0;
  Duration latency_;
  bool watched_for_room_ = false;
  Time measured_;
  std::size_t room_ = 0;  // For data in the kernel that has not been sent.
  std::vector<std::uint64_t> acknowledged_;
};

}  // namespace weft::wire
