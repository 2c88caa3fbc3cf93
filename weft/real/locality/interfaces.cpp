// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/interfaces.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <weft/base/text.hpp>

namespace weft::locality {
namespace {

// Files in /sys may fail to read, such as the speed of an interface that is down.
std::optional<std::int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  const auto number = parse_int(word);
  if (!number) return std::nullopt;
  return *number;
}

// The NUMA node of the underlying interfaces; -1 if there are none or they differ.
int node_below(const std::string& folder, int depth_left) {
  if (const auto node = read_number(folder + "/device/numa_node")) return static_cast<int>(*node);
  if (depth_left == 0) return -1;
  int found = -1;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (!entry.path().filename().string().starts_with("lower_")) continue;
    const int node = node_below(entry.path().string(), depth_left - 1);
    if (node < 0 || (found >= 0 && node != found)) return -1;
    found = node;
  }
  return found;
}

std::optional<Address> address_of(const sockaddr* from) {
  if (from == nullptr) return std::nullopt;
  Address address;
  if (from->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, from, sizeof v4);
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    return address;
  }
  if (from->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, from, sizeof v6);
  std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  address.v6 = true;
  return address;
}

int prefix_of(const sockaddr* mask, bool v6) {
  const auto bits = address_of(mask);
  if (!bits) return v6 ? 128 : 32;
  int prefix = 0;
  for (const std::uint8_t byte : bits->bytes) prefix += std::popcount(byte);
  return prefix;
}

auto by_name_and_address(const Interface& one) {
  return std::tie(one.name, one.address);
}

// Interfaces without a usable address stay in the list without one, for messages.
std::vector<Interface> with_wanted_addresses(std::vector<Interface> all) {
  std::vector<Interface> kept;
  for (Interface& one : all) {
    const auto same_name = [&](const Interface& other) { return other.name == one.name; };
    const bool v4 = std::any_of(all.begin(), all.end(), [&](const Interface& other) {
      return same_name(other) && other.has_address() && !other.address.v6;
    });
    const bool wanted =
        one.has_address() && (!one.address.v6 || (!v4 && !is_link_local(one.address)));
    if (wanted)
      std::erase_if(kept, [&](auto& other) { return same_name(other) && !other.has_address(); });
    if (!wanted && std::any_of(kept.begin(), kept.end(), same_name)) continue;
    if (!wanted) {
      one.address = {};
      one.prefix = -1;
    }
    kept.push_back(one);
  }
  return kept;
}

Error unusable(const Interface& one, const std::string& request) {
  std::string what = !one.up        ? "is down"
                     : !one.running ? "has no carrier (cable, or the port at the switch)"
                                    : "has no address";
  return Error::call("rail '" + request + "': interface '" + one.name + "' " + what +
                     "; fix that or leave it out of the rails");
}

// The interfaces that one request means. Addresses in the loopback's subnet always exist, so one
// host can have several rails to itself.
Result<std::vector<Interface>> grant(std::span<const Interface> own, const std::string& request) {
  std::vector<Interface> granted;
  for (const Interface& one : own)
    if (one.name == request) {
      if (!one.usable()) return unusable(one, request);
      granted.push_back(one);
    }
  if (!granted.empty()) return granted;
  const bool slash = request.find('/') != std::string::npos;
  const auto address = parse_address(request);
  if (slash) {
    auto subnet = parse_subnet(request);
    if (!subnet) return Error::call("rail " + subnet.error().message());
    for (const Interface& one : own)
      if (one.usable() && contains(*subnet, one.address)) granted.push_back(one);
  } else if (address) {
    for (const Interface& one : own) {
      if (!one.has_address()) continue;
      const bool alias = one.loopback && contains(one.subnet(), *address);
      if (one.address != *address && !alias) continue;
      if (!one.usable()) return unusable(one, request);
      granted.push_back(one);
      granted.back().address = *address;
      break;
    }
  }
  if (!granted.empty()) return granted;
  const std::string what = slash     ? "no interface of this host has an address in this subnet"
                           : address ? "no interface of this host has this address"
                                     : "this host has no interface of this name";
  return Error::call("rail '" + request + "': " + what + "; there are: " + list_text(own));
}

}  // namespace

void read_details(Interface& interface, const std::string& net) {
  const std::string folder = net + "/" + interface.name;
  const auto speed_mbit = read_number(folder + "/speed");
  // Some drivers report -1, some the same in 32 bits.
  if (speed_mbit && *speed_mbit > 0 && *speed_mbit < 100'000'000)
    interface.speed = Rate::bit_per_s(*speed_mbit * 1'000'000);
  if (const auto mtu = read_number(folder + "/mtu")) interface.mtu = static_cast<int>(*mtu);
  interface.node = node_below(folder, 4);
}

Result<std::vector<Interface>> read_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0)
    return Error::run(std::string("network interfaces cannot be listed: ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    Interface one;
    // Further addresses may have labels ("eth0:1"); they belong to the same interface.
    const std::string_view label = entry->ifa_name;
    one.name = label.substr(0, label.find(':'));
    one.up = (entry->ifa_flags & IFF_UP) != 0;
    one.running = (entry->ifa_flags & IFF_RUNNING) != 0;
    one.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (const auto address = address_of(entry->ifa_addr)) {
      one.address = *address;
      one.prefix = prefix_of(entry->ifa_netmask, address->v6);
    }
    all.push_back(one);
  }
  std::vector<Interface> kept = with_wanted_addresses(std::move(all));
  for (Interface& one : kept) read_details(one, "/sys/class/net");
  std::sort(kept.begin(), kept.end(), [](const Interface& a, const Interface& b) {
    return by_name_and_address(a) < by_name_and_address(b);
  });
  return kept;
}

std::string to_text(std::span<const Interface> interfaces) {
  std::string text;
  for (const Interface& one : interfaces)
    text += fmt::format(
        "{} {} {}{}{} {} {} {}\n", one.name,
        one.has_address() ? fmt::format("{}/{}", to_text(one.address), one.prefix) : "-",
        one.up ? 'u' : '-', one.running ? 'r' : '-', one.loopback ? 'l' : '-',
        one.speed.in_bit_per_s(), one.mtu, one.node);
  return text;
}

namespace {

Result<Interface> parse_interface(std::string_view line) {
  const Error broken = Error::input("'" + std::string(line) + "' does not describe an interface");
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() != 6 || words[0].empty() || words[2].size() != 3) return broken;
  Interface one;
  one.name = words[0];
  if (words[1] != "-") {
    const std::size_t slash = words[1].find('/');
    if (slash == std::string_view::npos) return broken;
    const auto address = parse_address(std::string(words[1].substr(0, slash)));
    const auto prefix = parse_int(words[1].substr(slash + 1));
    if (!address || !prefix || *prefix < 0 || *prefix > address->bits()) return broken;
    one.address = *address;
    one.prefix = static_cast<int>(*prefix);
  }
  one.up = words[2][0] == 'u';
  one.running = words[2][1] == 'r';
  one.loopback = words[2][2] == 'l';
  const auto speed = parse_int(words[3]), mtu = parse_int(words[4]), node = parse_int(words[5]);
  if (!speed || !mtu || !node || *speed < 0 || *mtu < 0 || *mtu > 1'000'000'000 || *node < -1 ||
      *node > 1'000'000)
    return broken;
  one.speed = Rate::bit_per_s(*speed);
  one.mtu = static_cast<int>(*mtu);
  one.node = static_cast<int>(*node);
  return one;
}

}  // namespace

Result<std::vector<Interface>> parse_interfaces(const std::string& text) {
  std::vector<Interface> interfaces;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    auto one = parse_interface(line);
    if (!one) return std::move(one).error();
    interfaces.push_back(*std::move(one));
  }
  return interfaces;
}

Result<std::vector<Interface>> choose_rails(std::span<const Interface> own,
                                            std::span<const std::string> requests) {
  std::vector<Interface> chosen;
  for (const Interface& one : own)
    if (requests.empty() && one.usable() && !one.loopback && !is_link_local(one.address))
      chosen.push_back(one);
  if (requests.empty() && chosen.empty())
    for (const Interface& one : own)
      if (one.usable() && one.loopback) chosen.push_back(one);
  for (const std::string& request : requests) {
    auto granted = grant(own, request);
    if (!granted) return std::move(granted).error();
    for (Interface& one : *granted)
      if (std::find(chosen.begin(), chosen.end(), one) == chosen.end()) chosen.push_back(one);
  }
  return chosen;
}

std::string list_text(std::span<const Interface> interfaces) {
  std::string text;
  for (const Interface& one : interfaces) {
    if (!text.empty()) text += ", ";
    text += one.name + " (";
    text += !one.up             ? "down"
            : !one.running      ? "no carrier"
            : one.has_address() ? to_text(one.address) + "/" + std::to_string(one.prefix)
                                : "no address";
    text += ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace weft::locality
