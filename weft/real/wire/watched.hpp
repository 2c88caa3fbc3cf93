// SPDX-License-Identifier: Apache-2.0
// The owner of a descriptor in the epoll set.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/epoll.h>

#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

struct Watched {
  enum class Owner : std::uint8_t { launcher, kind, rail, bell };
  Owner owner = Owner::launcher;
  std::uint32_t index = 0;  // The peer; of a kind: its own token.
  std::uint16_t part = 0;   // The rail, or the row of the kind.

  static Watched launcher() { return {Owner::launcher, 0, 0}; }
  static Watched bell() { return {Owner::bell, 0, 0}; }
  static Watched kind(std::uint32_t row, std::uint32_t token) {
    return {Owner::kind, token, static_cast<std::uint16_t>(row)};
  }
  static Watched rail(RankId peer, RailId rail) {
    return {Owner::rail, peer.index, static_cast<std::uint16_t>(rail.index)};
  }

  std::uint64_t packed() const {
    return index | (std::uint64_t{part} << 32) | (static_cast<std::uint64_t>(owner) << 48);
  }
  static Watched unpack(std::uint64_t word) {
    return {static_cast<Owner>(word >> 48), static_cast<std::uint32_t>(word),
            static_cast<std::uint16_t>(word >> 32)};
  }
};

// Adds the descriptor, or changes how it is watched.
inline void add_watch(const Descriptor& epoll, int descriptor, Watched what, bool for_room) {
  epoll_event event = {};
  event.events = EPOLLIN | (for_room ? EPOLLOUT : 0u);
  event.data.u64 = what.packed();
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, descriptor, &event) != 0) {
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
}

}  // namespace weft::wire
