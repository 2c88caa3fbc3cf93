// SPDX-License-Identifier: Apache-2.0
// The result of a probe: hosts on switches, switches in a tree, and the confidence in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/network/probe/meter.hpp>

namespace weft::probe {

inline constexpr std::uint32_t nowhere = 0xffffffffu;

struct HostFound {
  std::string name;
  std::uint32_t on = nowhere;  // Its switch; nowhere if not placed.
  double sure = 0;             // Confidence, 0 to 1: the share of measurements that agree.
  friend bool operator==(const HostFound&, const HostFound&) = default;
};

struct SwitchFound {
  std::string name;
  double depth_ns = 0;  // Round trip from the first switch, without the hosts' share.
  friend bool operator==(const SwitchFound&, const SwitchFound&) = default;
};

// What is known of a link's rate.
enum class Filled { unknown, full, at_least };

struct LinkFound {
  std::uint32_t a = 0, b = 0;  // Switches; a is nearer to the first switch.
  double latency_ns = 0;       // One way, including the switch behind it.
  double rate_bit_per_s = 0;
  Filled filled = Filled::unknown;
  bool shared = false;  // Flows over it were seen to slow each other.
  double sure = 0;
  friend bool operator==(const LinkFound&, const LinkFound&) = default;
};

struct Finding {
  std::vector<HostFound> hosts;
  std::vector<SwitchFound> switches;
  std::vector<LinkFound> links;
  double host_ns = 0;         // Each host's share of a round trip.
  double host_bit_per_s = 0;  // Rate of one host; 0: not measured.
  double noise_ns = 0;        // Noise of a round trip.
  double same_ns = 0;         // Shorter round trips stay under one switch.
  double jump_ns = 0;         // From those to the next longer ones; 0: no jump.
  double contradicting = 0;   // Share of checked distances that do not fit the tree.
  bool tree = true;           // Otherwise only groups: the links mean nothing.
  bool complete = true;       // Otherwise the time was up.
  std::vector<std::string> remarks;
  Counts counts;
};

}  // namespace weft::probe
