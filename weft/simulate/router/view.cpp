// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/view.hpp"

#include <bit>

#include <weft/simulate/router/flow.hpp>

namespace weft::detail {

bool View::up(int port) const {
  return engine_.all_up_ ||
         engine_.graph_.ports(RouterId(engine_.ids_[router_]))[static_cast<std::size_t>(port)]
             .usable();
}

Bytes View::free(int port, int vc) const {
  const std::uint32_t output =
      engine_.routers_[router_].first_output + static_cast<std::uint32_t>(port);
  const auto v = static_cast<std::uint32_t>(vc);
  Account& account = engine_.accounts_[std::size_t{output} * engine_.vcs_ + v];
  engine_.reclaim(account, engine_.inputs_[engine_.outputs_[output].target + v], now_);
  return Bytes{account.room};
}

LineNews View::line(int port, int line) const {
  return engine_.line_now(router_, port, line, now_);
}

Bytes View::queued(int port) const {
  const Router& router = engine_.routers_[router_];
  const std::uint32_t output = router.first_output + static_cast<std::uint32_t>(port);
  Bytes sum;
  // Behind an output buffer stands a second account, of the far end.
  const std::uint32_t stages = engine_.buffered_ ? 2 : 1;
  for (std::uint32_t s = 0; s < stages; ++s) {
    const int p = port + static_cast<int>(s) * engine_.cable_count(router_);
    const Bytes whole =
        s + 1 < stages ? engine_.machine_.output_buffer : engine_.machine_.buffer_size();
    for (int v = 0; v < engine_.machine_.vcs; ++v) sum += whole - free(p, v);
  }
  const std::uint64_t* const mask = engine_.waiting(output);
  for (std::uint32_t w = 0; w < engine_.words_; ++w) {
    for (std::uint64_t word = mask[w]; word != 0; word &= word - 1) {
      const std::uint32_t input =
          router.first_input + w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      const Input& in = engine_.inputs_[input];
      sum += Bytes{engine_.slot(in, in.head).size()};
    }
  }
  return sum;
}

// A policy's answer for a head; false if it has none.
bool Engine::ask_way(int worker, std::uint32_t r, Slot& packet, std::uint32_t& output,
                     VcMask& vcs) {
  Flight flight;
  flight.destination = graph_.router_of(NodeId(packet.node));
  flight.destination_node = NodeId(packet.node);
  flight.hops = static_cast<std::uint8_t>(packet.hops());
  flight.state = packet.route;
  if (facts_.asks_source) flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices& choices = crews_[static_cast<std::size_t>(worker)].choices;
  choices.clear();
  policy_.next(RouterId(ids_[r]), flight, View(*this, r, 0), choices);
  if (choices.empty()) {
    no_way(worker, r, packet);
    return false;
  }
  const Choice& choice = choices[0];
  packet.route = choice.state;
  vcs = choice.vcs & all_vcs_;
  if (choice.port == Choice::eject) {
    output =
        routers_[r].ports + static_cast<std::uint32_t>(graph_.local_index(NodeId(packet.node)));
  } else {
    output = choice.port;
  }
  return true;
}

}  // namespace weft::detail
