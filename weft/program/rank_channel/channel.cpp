// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weft/program/rank_channel/channel.hpp>

namespace weft {

namespace {

using Length = std::uint64_t;

// Most packets are short: they and their length come with one call.
constexpr std::size_t first_read = 4096;

bool read_all(int socket, std::byte* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

RankChannel& RankChannel::operator=(RankChannel&& other) noexcept {
  close();
  socket_ = std::exchange(other.socket_, -1);
  return *this;
}

bool RankChannel::make_pair(RankChannel& here, RankChannel& there) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  here = RankChannel(ends[0]);
  there = RankChannel(ends[1]);
  return true;
}

void RankChannel::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool RankChannel::send(std::span<const std::byte> packet) {
  Length length = packet.size();
  std::array<iovec, 2> parts = {
      {{&length, sizeof length}, {const_cast<std::byte*>(packet.data()), packet.size()}}};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (std::size_t left = sizeof length + packet.size(); left > 0;) {
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    left -= static_cast<std::size_t>(sent);
    for (auto gone = static_cast<std::size_t>(sent); gone > 0;) {
      iovec& part = *message.msg_iov;
      const std::size_t taken = std::min(gone, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      gone -= taken;
      if (part.iov_len > 0) break;
      ++message.msg_iov;
      --message.msg_iovlen;
    }
  }
  return true;
}

// The sides take turns, so nothing follows a packet until it is answered.
bool RankChannel::receive(std::vector<std::byte>& packet) {
  std::array<std::byte, first_read> first;
  std::size_t held = 0;
  while (held < sizeof(Length)) {
    const ssize_t got = ::recv(socket_, first.data() + held, first.size() - held, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    held += static_cast<std::size_t>(got);
  }
  Length length = 0;
  std::memcpy(&length, first.data(), sizeof length);
  held -= sizeof length;
  if (held > length) return false;
  packet.resize(length);
  if (held > 0) std::memcpy(packet.data(), first.data() + sizeof length, held);
  return read_all(socket_, packet.data() + held, packet.size() - held);
}

}  // namespace weft
