// SPDX-License-Identifier: Apache-2.0
// ICMP echoes for the probe program. The kernel of the other host answers, so that no process there
// has to be scheduled.
#pragma once

#include <array>
#include <cstdint>

namespace weft::app {

// The IPv4 addresses of a host, in network byte order; 0 means none.
struct EchoAddresses {
  std::array<std::uint32_t, 4> address{}, mask{};
};
EchoAddresses own_addresses();

// The address of another host to use: one in a subnet that both share, if possible.
std::uint32_t choose_address(const EchoAddresses& own, const EchoAddresses& other);

class Echo {
 public:
  Echo();  // Needs root unless the system allows echoes to every user (ping_group_range).
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  ~Echo();

  bool usable() const { return socket_ >= 0; }
  // The time of one echo; negative if no answer came.
  double round_trip_ns(std::uint32_t address, int timeout_ms);

 private:
  bool read_answer(std::uint32_t address, double& received_ns) const;

  int socket_ = -1;
  bool raw_ = false;
  std::uint16_t id_ = 0, sequence_ = 0;
};

}  // namespace weft::app
