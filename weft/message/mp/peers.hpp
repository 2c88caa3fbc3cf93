// SPDX-License-Identifier: Apache-2.0
// What a rank remembers of the ranks it talks to: credit, and the order of envelopes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include <weft/message/mp/flat_map.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

// What is lent is gone at the next poll.
inline void keep_data(Completion& completion) {
  if (completion.lent != nullptr && completion.size > 0) {
    completion.data = std::make_unique_for_overwrite<std::byte[]>(completion.size);
    std::memcpy(completion.data.get(), completion.lent, completion.size);
  }
  completion.lent = nullptr;
}

struct Peer {
  std::uint32_t used = 0;            // Of our credit at the peer.
  std::uint32_t owed = 0;            // Credit to give back.
  std::uint32_t sent = 0, seen = 0;  // Envelopes, where the network does not keep their order.
};

class Peers {
 public:
  Peer& operator[](RankId rank) { return peers_[rank.index]; }
  Peer* find(RankId rank) { return peers_.find(rank.index); }

  // Takes credit for an eager message; false when there is not enough.
  bool draw(RankId rank, std::size_t size, Bytes limit) {
    return draw(peers_[rank.index], size, limit);
  }
  static bool draw(Peer& peer, std::size_t size, Bytes limit) {
    const std::uint64_t cost = size + message_cost;
    if (peer.used + cost > static_cast<std::uint64_t>(limit.count)) return false;
    peer.used += static_cast<std::uint32_t>(cost);
    return true;
  }
  void give_back(RankId rank, std::uint32_t credit) {
    if (credit == 0) return;
    Peer& peer = peers_[rank.index];
    peer.used -= std::min(peer.used, credit);
  }
  // True when so much is owed that a frame of its own should say so.
  bool owe(RankId rank, std::size_t size, Bytes limit) {
    Peer& peer = peers_[rank.index];
    peer.owed += static_cast<std::uint32_t>(size + message_cost);
    return std::uint64_t{peer.owed} * 2 > static_cast<std::uint64_t>(limit.count);
  }
  std::uint32_t settle(RankId rank) {
    Peer* const peer = peers_.find(rank.index);
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
  static constexpr std::size_t message_cost = 64;  // Of remembering a message, beyond its data.
  FlatMap<Peer> peers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Completion> early_;
};

}  // namespace weft::mp
