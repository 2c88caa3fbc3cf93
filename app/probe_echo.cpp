// SPDX-License-Identifier: Apache-2.0
#include "probe_echo.hpp"

#include <cstring>
#include <ctime>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::app {
namespace {

// The clock that the kernel uses for its time stamps on packets.
double now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec % 1'000'000) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::uint16_t checksum(const void* data, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + i, 2);
    sum += word;
  }
  while ((sum >> 16) != 0) sum = (sum & 0xffffu) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

EchoAddresses own_addresses() {
  EchoAddresses out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  std::size_t count = 0;
  for (const ifaddrs* at = list; at != nullptr && count < out.address.size(); at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in address{}, mask{};
    std::memcpy(&address, at->ifa_addr, sizeof address);
    if (at->ifa_netmask != nullptr) std::memcpy(&mask, at->ifa_netmask, sizeof mask);
    out.address[count] = address.sin_addr.s_addr;
    out.mask[count++] = mask.sin_addr.s_addr;
  }
  ::freeifaddrs(list);
  return out;
}

std::uint32_t choose_address(const EchoAddresses& own, const EchoAddresses& other) {
  for (std::size_t i = 0; i < own.address.size(); ++i)
    for (const std::uint32_t address : other.address)
      if (own.address[i] != 0 && address != 0 && ((own.address[i] ^ address) & own.mask[i]) == 0)
        return address;
  return other.address[0];
}

Echo::Echo() {
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
  if (socket_ < 0) {
    socket_ = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    raw_ = true;
  }
  if (socket_ < 0) return;
  const int yes = 1;
  static_cast<void>(::setsockopt(socket_, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes));
  id_ = static_cast<std::uint16_t>(::getpid());
}

Echo::~Echo() {
  if (socket_ >= 0) ::close(socket_);
}

// Reads one packet; true if it is the expected answer.
bool Echo::read_answer(std::uint32_t address, double& received_ns) const {
  alignas(8) char data[512];
  alignas(cmsghdr) char control[256];
  sockaddr_in from{};
  iovec part{data, sizeof data};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket_, &message, MSG_DONTWAIT);
  received_ns = now_ns();
  // A raw socket delivers the IP header, too.
  const std::size_t head = raw_ && size > 0 ? static_cast<std::size_t>(data[0] & 0xf) * 4 : 0;
  icmphdr echo{};
  if (size < static_cast<ssize_t>(head + sizeof echo)) return false;
  std::memcpy(&echo, data + head, sizeof echo);
  if (echo.type != ICMP_ECHOREPLY || from.sin_addr.s_addr != address) return false;
  if (ntohs(echo.un.echo.sequence) != sequence_) return false;
  if (raw_ && ntohs(echo.un.echo.id) != id_) return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec mark{};
    std::memcpy(&mark, CMSG_DATA(c), sizeof mark);
    received_ns =
        static_cast<double>(mark.tv_sec % 1'000'000) * 1e9 + static_cast<double>(mark.tv_nsec);
  }
  return true;
}

double Echo::round_trip_ns(std::uint32_t address, int timeout_ms) {
  struct {
    icmphdr head{};
    char data[24]{};
  } packet;
  packet.head.type = ICMP_ECHO;
  packet.head.un.echo.id = htons(id_);
  packet.head.un.echo.sequence = htons(++sequence_);
  packet.head.checksum = checksum(&packet, sizeof packet);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = address;
  const double sent = now_ns();
  if (::sendto(socket_, &packet, sizeof packet, 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to) < 0)
    return -1;
  const double end = sent + timeout_ms * 1e6;
  for (double now = sent; now < end; now = now_ns()) {
    double received = 0;
    if (read_answer(address, received)) return received > sent ? received - sent : 0;
    pollfd waiting{socket_, POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>((end - now) / 1e6) + 1);
  }
  return -1;
}

}  // namespace weft::app
