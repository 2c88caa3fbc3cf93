// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host that may serve as rails.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/real/locality/address.hpp>

namespace weft::locality {

// One per interface and address: an interface with two addresses is listed twice.
struct Interface {
  std::string name;
  Address address;
  int prefix = -1;  // -1: the interface has no address.
  bool up = false;
  bool running = false;  // The cable is connected.
  bool loopback = false;
  Rate speed;  // As reported by the driver; zero: unknown.
  int mtu = 0;
  int node = -1;  // NUMA node of the NIC; -1: unknown, or there is only one.

  bool has_address() const { return prefix >= 0; }
  bool usable() const { return up && running && has_address(); }
  Subnet subnet() const { return subnet_of(address, prefix); }
  friend bool operator==(const Interface&, const Interface&) = default;
};

// IPv4 addresses, or global IPv6 addresses for interfaces without IPv4. Sorted by name and address.
Result<std::vector<Interface>> read_interfaces();
// Reads speed, MTU and NUMA node from `net`, which is /sys/class/net or a copy. A virtual interface
// (VLAN, bond) has the node of its underlying interfaces, if they agree.
void read_details(Interface& interface, const std::string& net);

// One line per interface, for other hosts; parsing gives the same list.
std::string to_text(std::span<const Interface> interfaces);
Result<std::vector<Interface>> parse_interfaces(const std::string& text);

// The interfaces to use as rails. A request is the name of an interface, an address or a
// subnet. In the order of the requests, without duplicates. Without requests: all that lead to
// other hosts, else the loopback, else none.
Result<std::vector<Interface>> choose_rails(std::span<const Interface> own,
                                            std::span<const std::string> requests);

// The list for error messages: "eth0 (10.1.0.1/24), eth1 (down)".
std::string list_text(std::span<const Interface> interfaces);

}  // namespace weft::locality
