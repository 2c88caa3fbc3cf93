// SPDX-License-Identifier: Apache-2.0
// What a descriptor in the epoll set stands for.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/epoll.h>

#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

struct Watched {
  enum class Kind : std::uint8_t { bell, seat, door, caller, link, neighbour, card };
  Kind kind = Kind::bell;
  std::uint32_t index = 0;  // Of the door, caller or peer.
  std::uint16_t rail = 0;

  static Watched bell() { return {Kind::bell, 0, 0}; }
  static Watched seat() { return {Kind::seat, 0, 0}; }
  static Watched door(std::size_t rail) {
    return {Kind::door, static_cast<std::uint32_t>(rail), 0};
  }
  static Watched caller(std::size_t slot) {
    return {Kind::caller, static_cast<std::uint32_t>(slot), 0};
  }
  static Watched link(RankId peer, RailId rail) {
    return {Kind::link, peer.index, static_cast<std::uint16_t>(rail.index)};
  }
  static Watched card() { return {Kind::card, 0, 0}; }
  static Watched neighbour(RankId peer) { return {Kind::neighbour, peer.index, 0}; }

  std::uint64_t packed() const {
    return index | (std::uint64_t{rail} << 32) | (static_cast<std::uint64_t>(kind) << 48);
  }
  static Watched unpack(std::uint64_t word) {
    return {static_cast<Kind>(word >> 48), static_cast<std::uint32_t>(word),
            static_cast<std::uint16_t>(word >> 32)};
  }
};

// Anew, or changed.
inline void add_watch(const Descriptor& epoll, int descriptor, Watched what, bool out) {
  epoll_event event = {};
  event.events = EPOLLIN | (out ? EPOLLOUT : 0u);
  event.data.u64 = what.packed();
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, descriptor, &event) != 0) {
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
}

}  // namespace weft::wire
