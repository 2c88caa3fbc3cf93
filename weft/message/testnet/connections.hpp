// SPDX-License-Identifier: Apache-2.0
// Which ranks of a local network are connected.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/message/testnet/testnet.hpp>

namespace weft {

struct LocalConnection {
  enum class State : std::uint8_t { none, opening, open };
  State state = State::none;
  std::array<bool, 2> asked = {}, closed = {};  // By the lower and the higher rank.
};

class LocalConnectionTable {
 public:
  explicit LocalConnectionTable(std::uint32_t ranks) : held_(ranks) {}

  LocalConnection& between(RankId a, RankId b) { return table_[std::minmax(a.index, b.index)]; }
  static std::size_t side(RankId self, RankId peer) { return self < peer ? 0 : 1; }
  bool usable(RankId self, RankId peer) {
    const LocalConnection& one = between(self, peer);
    return one.state == LocalConnection::State::open && !one.closed[side(self, peer)];
  }
  // true: from now on it is about to open.
  bool ask(RankId self, RankId peer) {
    LocalConnection& one = between(self, peer);
    if (usable(self, peer)) return false;
    one.asked[side(self, peer)] = true;
    if (one.state != LocalConnection::State::none) return false;
    one.state = LocalConnection::State::opening;
    return true;
  }
  bool has_room(RankId rank, std::uint32_t most) const {
    return most == 0 || held_[rank.index] < most;
  }
  void open(RankId a, RankId b) {
    between(a, b) = {LocalConnection::State::open, {}, {}};
    for (const RankId rank : {a, b}) most_ = std::max(most_, ++held_[rank.index]);
  }
  enum class Closing : std::uint8_t { half, whole, again };
  Closing close(RankId self, RankId peer) {
    LocalConnection& one = between(self, peer);
    WEFT_CHECK(usable(self, peer));
    one.closed[side(self, peer)] = true;
    --held_[self.index];
    if (!one.closed[side(peer, self)]) return Closing::half;
    one.closed = {};
    const bool again = one.asked[0] || one.asked[1];
    one.state = again ? LocalConnection::State::opening : LocalConnection::State::none;
    return again ? Closing::again : Closing::whole;
  }
  void forget(RankId a, RankId b) {
    const LocalConnection& one = between(a, b);
    const bool open = one.state == LocalConnection::State::open;
    if (open && !one.closed[side(a, b)]) --held_[a.index];
    if (open && !one.closed[side(b, a)]) --held_[b.index];
    table_.erase(std::minmax(a.index, b.index));
  }
  std::uint32_t most() const { return most_; }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, LocalConnection> table_;
  std::vector<std::uint32_t> held_;
  std::uint32_t most_ = 0;
};

}  // namespace weft
