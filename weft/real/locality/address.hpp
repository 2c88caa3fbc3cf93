// SPDX-License-Identifier: Apache-2.0
// Addresses of network interfaces and their subnets.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::locality {

struct Address {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // In network order; IPv4 uses the first four.

  int bits() const { return v6 ? 128 : 32; }
  friend auto operator<=>(const Address&, const Address&) = default;
};

// Bits after the prefix are zero.
struct Subnet {
  Address address;
  int prefix = 0;

  friend auto operator<=>(const Subnet&, const Subnet&) = default;
};

Result<Address> parse_address(const std::string& text);
std::string to_text(const Address& address);

// REQUIRES: 0 <= prefix <= address.bits().
Subnet subnet_of(const Address& address, int prefix);
bool contains(const Subnet& subnet, const Address& address);
// "10.64.0.0/16"; bits after the prefix may be set, as in "10.64.0.7/16".
Result<Subnet> parse_subnet(const std::string& text);
std::string to_text(const Subnet& subnet);

// 169.254.0.0/16 and fe80::/10: such addresses are valid on one link only.
bool is_link_local(const Address& address);

}  // namespace weft::locality
