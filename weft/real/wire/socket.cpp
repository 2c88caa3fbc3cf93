// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/real/wire/socket.hpp>

namespace weft::wire {

namespace {

struct Name {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Name name_of(const locality::Address& address, std::uint16_t port) {
  Name name;
  if (address.v6) {
    auto& in = reinterpret_cast<sockaddr_in6&>(name.storage);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    std::memcpy(&in.sin6_addr, address.bytes.data(), 16);
    name.size = sizeof in;
  } else {
    auto& in = reinterpret_cast<sockaddr_in&>(name.storage);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, address.bytes.data(), 4);
    name.size = sizeof in;
  }
  return name;
}

Error failed(const std::string& what, const locality::Interface& interface) {
  return Error::run(what + " on " + interface.name + " (" + to_text(interface.address) +
                    "): " + std::strerror(errno));
}

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

Result<Descriptor> make_socket(const locality::Interface& interface, const char* what) {
  const int family = interface.address.v6 ? AF_INET6 : AF_INET;
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return failed(what, interface);
  // Several interfaces may lie in one subnet. Where that is not allowed, addresses must do.
  if (!interface.loopback) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, interface.name.c_str(),
                 static_cast<socklen_t>(interface.name.size()));
  }
  const Name own = name_of(interface.address, 0);
  if (::bind(socket.get(), own.get(), own.size) != 0) return failed(what, interface);
  return socket;
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Result<Descriptor> listen_on(const locality::Interface& interface) {
  Result<Descriptor> socket = make_socket(interface, "listening");
  if (!socket) return socket;
  if (::listen(socket->get(), SOMAXCONN) != 0) return failed("listening", interface);
  return socket;
}

Result<std::uint16_t> port_of(const Descriptor& listener) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return Error::run(std::string("a socket without a name: ") + std::strerror(errno));
  }
  // The port stands at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

bool is_its_own_peer(const Descriptor& socket) {
  sockaddr_storage own = {}, peer = {};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0;
}

Result<Descriptor> connect_from(const locality::Interface& interface, const locality::Address& to,
                                std::uint16_t port) {
  Result<Descriptor> socket = make_socket(interface, "connecting");
  if (!socket) return socket;
  const Name name = name_of(to, port);
  if (::connect(socket->get(), name.get(), name.size) != 0 && errno != EINPROGRESS) {
    return failed("connecting to " + locality::to_text(to), interface);
  }
  return socket;
}

Descriptor accept_from(const Descriptor& listener, locality::Address& from, bool& local) {
  Name name;
  name.size = sizeof name.storage;
  Descriptor socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&name.storage),
                              &name.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  local = false;
  from = {};
  if (!socket) return socket;
  from.v6 = name.storage.ss_family == AF_INET6;
  if (from.v6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(name.storage);
    std::memcpy(from.bytes.data(), &in.sin6_addr, 16);
  } else if (name.storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(name.storage);
    std::memcpy(from.bytes.data(), &in.sin_addr, 4);
  } else {
    local = true;
  }
  return socket;
}

int error_of(const Descriptor& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

namespace {

// BBR sends as fast as it has seen a connection deliver. Messages come in bursts, to one peer after
// the other, so it has mostly seen a share of the rail, and stays with that.
void avoid_bbr(int socket) {
  char name[16] = {};
  socklen_t size = sizeof name - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size) != 0) return;
  if (std::strncmp(name, "bbr", 3) != 0) return;
  for (const char* const other : {"cubic", "reno"}) {
    const auto length = static_cast<socklen_t>(std::strlen(other));
    if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, other, length) == 0) return;
  }
}

}  // namespace

void prepare(const Descriptor& socket, Duration lost_after) {
  avoid_bbr(socket.get());
  set(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  // The kernel begins with room for a few packets and adds to it where a stream goes on for long:
  // messages do not, and would wait for us to fill it again and again. Then it may go on adding.
  set(socket.get(), SOL_SOCKET, SO_SNDBUF, 4 << 20);
#ifdef SO_BUF_LOCK
  set(socket.get(), SOL_SOCKET, SO_BUF_LOCK, 0);
#endif
  // Detects a silent peer to which nothing is in flight. (TCP_USER_TIMEOUT would end connections to
  // peers that do not read for long, too.)
  const int seconds = std::max(static_cast<int>(lost_after.in_seconds() / 8), 1);
  set(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  set(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::uint32_t descriptors_left() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;  // There may be none left even for this.
  rlim_t used = 0;
  while (const dirent* const entry = ::readdir(folder)) used += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  constexpr rlim_t most = 1u << 20;
  return static_cast<std::uint32_t>(std::min(limit.rlim_cur, used + most) -
                                    std::min(limit.rlim_cur, used - 1));
}

Health health_of(const Descriptor& socket) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  // A peer that does not read closes its window, and then nothing is under way. (Kernels before 5.4
  // do not tell the window.)
  const bool window =
      size > offsetof(tcp_info, tcpi_snd_wnd) && info.tcpi_snd_wnd >= info.tcpi_snd_mss;
  // All ones before the first.
  const auto trip =
      info.tcpi_min_rtt > 0 ? std::min(info.tcpi_min_rtt, info.tcpi_rtt) : info.tcpi_rtt;
  return {Duration::us(trip), Duration::ms(info.tcpi_last_ack_recv),
          info.tcpi_unacked > 0 || window, info.tcpi_delivery_rate};
}

std::size_t unacknowledged(const Descriptor& socket) {
  int count = 0;
  if (::ioctl(socket.get(), SIOCOUTQ, &count) != 0 || count < 0) return 0;
  return static_cast<std::size_t>(count);
}

void acknowledge(const Descriptor& socket) {
  set(socket.get(), IPPROTO_TCP, TCP_QUICKACK, 1);
}

void wake_from(const Descriptor& socket, std::size_t bytes) {
  set(socket.get(), SOL_SOCKET, SO_RCVLOWAT, static_cast<int>(bytes));
}

void hold_at_most(const Descriptor& socket, std::size_t unsent) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  set(socket.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(std::min(unsent, most)));
}

void stop_receiving(const Descriptor& socket) {
  // A filter that lets no packet through. Only Unix sockets heed the shutdown.
  sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog filter = {1, &nothing};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
  ::shutdown(socket.get(), SHUT_RD);
}

void reset(Descriptor& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.close();
}

}  // namespace weft::wire
