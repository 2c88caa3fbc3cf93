// SPDX-License-Identifier: Apache-2.0
// A network whose links carry flits in turn: VCs share a link flit by flit, and routers allot VCs
// and their switch in every cycle. Closest to the hardware, and slower than packets.
#pragma once

#include <memory>

#include <weft/base/result.hpp>
#include <weft/simulate/flits/flit_model.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {

// The topology, policy and host outlive the network. One process; as many workers as are asked for.
Result<std::unique_ptr<Network>> make_flit_network(const Topology& topology,
                                                   const NetworkHardware& machine,
                                                   const Policy& policy, Host& host,
                                                   const NetworkOptions& options,
                                                   const FlitModel& model = {});

}  // namespace weft
