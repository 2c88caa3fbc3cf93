// SPDX-License-Identifier: Apache-2.0
// The protocol of large messages: request -> ready -> writes over the rails, each with a notice ->
// done when all have been noticed.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/message/mp/cut_messages.hpp>
#include <weft/message/mp/frame_sender.hpp>
#include <weft/message/mp/head_starts.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/request_table.hpp>
#include <weft/message/mp/trunk.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class Rendezvous {
 public:
  // `trunk` may be null: then messages are cut once, by what the rails say of themselves.
  Rendezvous(const Fabric& fabric, RequestTable& requests, FrameSender& sender, Trunk* trunk)
      : transport_(fabric.transport),
        requests_(requests),
        sender_(sender),
        trunk_(trunk),
        cut_messages_(fabric, sender.rails()) {}

  // At the receiver: a receive has matched the message.
  void answer(Request* receive, const Envelope& message);
  // At the sender: the receiver is ready.
  void on_ready(const Header& header, RankId peer);
  // At the receiver: a part has been written; `key` says where it begins. It may come twice.
  void on_part(const Header& header, const Completion& completion);
  // At the sender: a frame or write with this cookie has left.
  void on_sent(std::uint64_t cookie);
  // At the sender: a write may not have arrived, as its rail broke; it goes again.
  void on_unsent(std::uint64_t cookie);
  void on_rail_change(const Completion& change);
  void forget(RankId peer);  // It is lost.

 private:
  void write_parts(Request* send, const Header& ready);
  void add_parts(const CutMessages::Returned& part);
  void write_measured(Request* send, const Header& ready, const Header& notice);

  Transport& transport_;
  RequestTable& requests_;
  FrameSender& sender_;
  Trunk* const trunk_;
  CutMessages cut_messages_;  // Without a trunk.
};

}  // namespace weft::mp
