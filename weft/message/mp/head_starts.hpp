// SPDX-License-Identifier: Apache-2.0
// Head starts: the beginning of a large message that goes with its request, before the receiver has
// answered, so that the network is not idle in the meantime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weft/message/mp/header.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/mp/peer_table.hpp>
#include <weft/message/mp/request_table.hpp>
#include <weft/message/mp/trunk.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class HeadStarts {
 public:
  // `trunk` may be null: then there are none.
  HeadStarts(const Fabric& fabric, const Options& options, RequestTable& requests, PeerTable& peers,
             Trunk* trunk)
      : fabric_(fabric), options_(options), requests_(requests), peers_(peers), trunk_(trunk) {}

  // How much of a message shall go ahead; takes credit for it.
  std::size_t draw(const Sending& sending);
  // Sends request->ahead bytes. If that is all of the message, the request completes.
  void send(Request* request);

  // An envelope has arrived whose head start is under way, or even arrived before it. It is for
  // this receive (an id), or for a message that no receive has matched yet.
  void expect(const Envelope& message, std::uint64_t receive, UnexpectedRecord* record);
  void on_head(const Header& header, Completion& completion);
  // A receive has matched the message: it takes what is here, and later what still comes.
  void hand_over(Request* receive, const UnexpectedRecord& record);
  // The message is withdrawn: what still comes of it is of no use.
  void drop(RankId peer, std::uint64_t sender);
  void forget(RankId peer);

  // All of the head start has arrived.
  static bool is_here(const UnexpectedRecord& record);
  // The head start is the whole message.
  static bool is_all(const Envelope& message) {
    return message.ahead >= message.arrival.size && message.ahead > 0;
  }

 private:
  struct Expected {
    std::uint64_t receive = 0;           // The request that takes it, or
    UnexpectedRecord* record = nullptr;  // the message that no receive has matched yet.
    std::size_t missing = 0;
    bool unwanted = false;
    std::vector<Completion> early;  // Arrived before the envelope.
  };
  void take(Request* receive, Stretch part, const std::byte* data);
  static void keep(UnexpectedRecord& record, Stretch part, const std::byte* data);

  const Fabric fabric_;
  const Options& options_;
  RequestTable& requests_;
  PeerTable& peers_;
  Trunk* const trunk_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Expected> expected_;  // By peer and request.
};

}  // namespace weft::mp
