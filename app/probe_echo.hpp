// SPDX-License-Identifier: Apache-2.0
// Echoes of the Internet's own protocol (ICMP): the other host's kernel answers, so that no
// process there needs a turn on its processor. For the probe program.
#pragma once

#include <array>
#include <cstdint>

namespace weft::app {

// Addresses of a host, as it tells them to others; IPv4 in the order of the network, 0: none.
struct EchoAddresses {
  std::array<std::uint32_t, 4> address{}, mask{};
};
EchoAddresses own_addresses();

// The address of another host to talk to: in a network that both are in, if there is one.
std::uint32_t choose_address(const EchoAddresses& own, const EchoAddresses& other);

class Echo {
 public:
  Echo();  // Needs no rights where the system allows echoes to everybody, else those of root.
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  ~Echo();

  bool usable() const { return socket_ >= 0; }
  // Of one echo; negative: none came.
  double round_trip_ns(std::uint32_t address, int timeout_ms);

 private:
  bool read_answer(std::uint32_t address, double& received_ns) const;

  int socket_ = -1;
  bool raw_ = false;
  std::uint16_t id_ = 0, sequence_ = 0;
};

}  // namespace weft::app
