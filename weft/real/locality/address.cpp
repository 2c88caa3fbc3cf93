// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/address.hpp"

#include <arpa/inet.h>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>

namespace weft::locality {

Result<Address> parse_address(const std::string& text) {
  Address address;
  if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  address.v6 = true;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return Error::input("'" + text + "' is not an address; write it as 10.64.0.1 or fd00::1");
}

std::string to_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.v6 ? AF_INET6 : AF_INET;
  WEFT_CHECK(::inet_ntop(family, address.bytes.data(), text.data(), text.size()) != nullptr);
  return text.data();
}

Subnet subnet_of(const Address& address, int prefix) {
  WEFT_CHECK(prefix >= 0 && prefix <= address.bits());
  Subnet subnet{address, prefix};
  for (std::size_t byte = 0; byte < address.bytes.size(); ++byte) {
    const int kept = prefix - static_cast<int>(byte) * 8;
    const unsigned mask = kept >= 8 ? 0xffu : kept <= 0 ? 0u : (0xff00u >> kept) & 0xffu;
    subnet.address.bytes[byte] = static_cast<std::uint8_t>(address.bytes[byte] & mask);
  }
  return subnet;
}

bool contains(const Subnet& subnet, const Address& address) {
  return address.v6 == subnet.address.v6 && subnet_of(address, subnet.prefix) == subnet;
}

Result<Subnet> parse_subnet(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    return Error::input("'" + text + "' is not a subnet; write it as 10.64.0.0/16");
  auto address = parse_address(text.substr(0, slash));
  if (!address) return std::move(address).error();
  const auto prefix = parse_int(std::string_view(text).substr(slash + 1));
  if (!prefix || *prefix < 0 || *prefix > address->bits())
    return Error::input("'" + text + "': the number after '/' must be between 0 and " +
                        std::to_string(address->bits()));
  return subnet_of(*address, static_cast<int>(*prefix));
}

std::string to_text(const Subnet& subnet) {
  return to_text(subnet.address) + "/" + std::to_string(subnet.prefix);
}

bool is_link_local(const Address& address) {
  const auto& bytes = address.bytes;
  return address.v6 ? bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80
                    : bytes[0] == 169 && bytes[1] == 254;
}

}  // namespace weft::locality
