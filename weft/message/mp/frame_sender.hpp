// SPDX-License-Identifier: Apache-2.0
// Sends frames of the message layer, and returns credit to the peer with each of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/message/mp/header.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/mp/peer_table.hpp>
#include <weft/message/mp/rail_choice.hpp>
#include <weft/message/mp/request.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class FrameSender {
 public:
  FrameSender(const Fabric& fabric, const Options& options, PeerTable& peers)
      : transport_(fabric.transport),
        options_(options),
        peers_(peers),
        rails_(fabric, options),
        fabric_(fabric) {}

  // The first frame of a message.
  void post(const Request* request, Header& header, Payload payload, std::uint64_t cookie);
  // A frame without data.
  void answer(RankId peer, Header& header);
  // The program has taken this many bytes of the peer's data.
  void owe_credit(RankId peer, std::size_t bytes) {
    if (peers_.owe(peer, bytes, options_.credit)) return_credit(peer);
  }
  // Numbers an envelope, where the network does not keep the order of frames.
  void number(Header& header, RankId peer) {
    if (!fabric_.keeps_order(peer)) header.sequence = peers_.order(peer).sent++;
  }
  const RailChoice& rails() const { return rails_; }

 private:
  void return_credit(RankId peer);

  Transport& transport_;
  const Options& options_;
  PeerTable& peers_;
  const RailChoice rails_;
  const Fabric fabric_;
};

}  // namespace weft::mp
