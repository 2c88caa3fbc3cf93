// SPDX-License-Identifier: Apache-2.0
// Packets of bytes between the simulator and the process of a rank, over a connected socket. Each
// packet comes whole. For one thread at a time, on either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft {

class RankChannel {
 public:
  RankChannel() = default;
  // Takes the socket over.
  explicit RankChannel(int socket) : socket_(socket) {}
  RankChannel(RankChannel&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  RankChannel& operator=(RankChannel&& other) noexcept;
  RankChannel(const RankChannel&) = delete;
  RankChannel& operator=(const RankChannel&) = delete;
  ~RankChannel() { close(); }

  // Two ends that other programs do not inherit; false and an errno if there are none.
  static bool make_pair(RankChannel& here, RankChannel& there);

  int socket() const { return socket_; }
  void close();
  // false: the other side is gone.
  bool send(std::span<const std::byte> packet);
  bool receive(std::vector<std::byte>& packet);

 private:
  int socket_ = -1;
};

}  // namespace weft
