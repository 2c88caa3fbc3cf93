// SPDX-License-Identifier: Apache-2.0
// What a rank remembers of each rank it talks to: credit for eager messages, and the order of
// envelopes where the network keeps none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <weft/base/units.hpp>
#include <weft/message/mp/flat_map.hpp>
#include <weft/message/mp/keep_data.hpp>
#include <weft/message/port/frame.hpp>

namespace weft::mp {

struct PeerState {
  std::uint32_t used = 0;  // Credit that we use at the peer.
  std::uint32_t owed = 0;  // Credit to give back.
};

// Envelopes, where the network does not keep their order.
struct PeerOrder {
  std::uint32_t sent = 0, seen = 0;
};

class PeerTable {
 public:
  PeerState& operator[](RankId rank) { return peers_[rank.index]; }
  PeerOrder& order(RankId rank) { return orders_[rank.index]; }

  // Takes credit for an eager message; false when there is not enough.
  bool draw(RankId rank, std::size_t size, Bytes limit) {
    return draw(peers_[rank.index], size, limit);
  }
  static bool draw(PeerState& peer, std::size_t size, Bytes limit) {
    const std::uint64_t cost = size + message_cost;
    if (peer.used + cost > static_cast<std::uint64_t>(limit.count)) return false;
    peer.used += static_cast<std::uint32_t>(cost);
    return true;
  }
  // The peer has given credit back.
  void refund(RankId rank, std::uint32_t credit) {
    if (credit == 0) return;
    PeerState& peer = peers_[rank.index];
    peer.used -= std::min(peer.used, credit);
  }
  // True if the credit owed is worth a frame of its own.
  bool owe(RankId rank, std::size_t size, Bytes limit) {
    PeerState& peer = peers_[rank.index];
    peer.owed += static_cast<std::uint32_t>(size + message_cost);
    return std::uint64_t{peer.owed} * 2 > static_cast<std::uint64_t>(limit.count);
  }
  // What is owed goes back with the next frame.
  std::uint32_t settle(RankId rank) {
    PeerState* const peer = peers_.find(rank.index);
    return peer == nullptr ? 0 : std::exchange(peer->owed, 0);
  }

  // Envelopes that came before their predecessors.
  void hold(RankId rank, std::uint32_t sequence, Completion&& completion) {
    keep_data(completion);
    early_.emplace(std::pair(rank.index, sequence), std::move(completion));
  }
  bool take(RankId rank, std::uint32_t sequence, Completion& out) {
    const auto found = early_.find({rank.index, sequence});
    if (found == early_.end()) return false;
    out = std::move(found->second);
    early_.erase(found);
    return true;
  }

 private:
  static constexpr std::size_t message_cost = 64;  // Memory of a message, beside its data.
  FlatMap<std::uint32_t, PeerState> peers_;
  FlatMap<std::uint32_t, PeerOrder> orders_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Completion> early_;
};

}  // namespace weft::mp
