// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: short constructors for interfaces.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include <weft/real/locality/interfaces.hpp>

namespace weft::locality {

// An interface that is up, with an address such as "10.1.0.1/24".
inline Interface card(const std::string& name, const std::string& address, int speed_gbit = 0,
                      int node = -1) {
  Interface one;
  one.name = name;
  const std::size_t slash = address.find('/');
  one.address = *parse_address(address.substr(0, slash));
  one.prefix = std::stoi(address.substr(slash + 1));
  one.up = one.running = true;
  one.loopback = name == "lo";
  one.speed = Rate::gbit_per_s(speed_gbit);
  one.mtu = 1500;
  one.node = node;
  return one;
}

inline Interface loopback() {
  return card("lo", "127.0.0.1/8");
}

inline Interface down(Interface one) {
  one.up = one.running = false;
  return one;
}

inline Interface unplugged(Interface one) {
  one.running = false;
  return one;
}

inline Interface without_address(const std::string& name) {
  Interface one = card(name, "0.0.0.0/0");
  one.prefix = -1;
  return one;
}

}  // namespace weft::locality
