// SPDX-License-Identifier: Apache-2.0
// Packets of the flit model, and what arrives at routers: flits of packets, credits, news of lines.
// Times are cycles unless their names say ps.
#pragma once

#include <cstdint>

#include <weft/simulate/router/news_item.hpp>

namespace weft::flits {

inline constexpr std::uint32_t none = 0xffff'ffffu;
inline constexpr std::uint8_t nobody = 0xff;

struct Packet {
  std::uint32_t message = none;
  std::uint32_t to = 0;  // NodeId, as `from`.
  std::uint32_t flits = 0, bytes = 0;
  std::uint64_t route = 0;   // Flight::state.
  std::int64_t head_at = 0;  // Its head arrived at the router that it is in, or at the node.
  std::int64_t born_ps = 0;
  std::uint32_t from = 0;
  std::uint32_t hops = 0;
};

// A flit that arrives. Only heads and tails say whose they are.
struct FlitArrival {
  std::uint32_t input;
  std::uint32_t packet;  // none: in the middle.
  bool head, tail;
};
struct CreditArrival {
  std::uint32_t output;
  std::uint32_t count;
};
struct NewsArrival {
  std::uint32_t router;
  detail::NewsItem item;  // Its time is a cycle.
};

}  // namespace weft::flits
