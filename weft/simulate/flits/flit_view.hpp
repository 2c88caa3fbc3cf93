// SPDX-License-Identifier: Apache-2.0
// A router's outputs as its routing policy sees them, by the credits that have come back.
#pragma once

#include <cstdint>

#include <weft/simulate/flits/state.hpp>

namespace weft::flits {

class FlitView final : public PortView {
 public:
  FlitView(const State& state, std::uint32_t router) : state_(state), router_(router) {}
  bool up(int port) const override { return cable(port).usable(); }
  Bytes free(int port, int vc) const override;
  Bytes queued(int port) const override;
  Bytes flowing(int port) const override;
  LineNews line(int port, int line) const override;

 private:
  std::uint32_t end(int port) const {
    return state_.routers[router_].first_end + static_cast<std::uint32_t>(port);
  }
  const Port& cable(int port) const {
    return state_.setup.graph.ports(state_.id_of(router_))[static_cast<std::size_t>(port)];
  }
  const State& state_;
  const std::uint32_t router_;
};

}  // namespace weft::flits
