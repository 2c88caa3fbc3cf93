// SPDX-License-Identifier: Apache-2.0
// A network without packets: a large message is a flow that has a fair share of every link on its
// way, a small one passes its links one after the other, in one piece. Hundreds of times faster
// than packets, and blind to what packets do to each other in buffers.
#pragma once

#include <memory>

#include <weft/base/result.hpp>
#include <weft/simulate/flows/flow_model.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {

// The topology, policy and host outlive the network. One worker does all of it, and one process.
Result<std::unique_ptr<Network>> make_flow_network(const Topology& topology,
                                                   const NetworkHardware& machine,
                                                   const Policy& policy, Host& host,
                                                   const NetworkOptions& options,
                                                   const FlowModel& model = {});

}  // namespace weft
