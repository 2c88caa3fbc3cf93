// SPDX-License-Identifier: Apache-2.0
// How closely a network is simulated, by one description.
#pragma once  // Public, for simulations: stays within 0.1; added fields have defaults.

#include <memory>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/simulate/flits/flit_model.hpp>
#include <weft/simulate/flows/flow_model.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {

enum class Fidelity {
  flit,    // Every flit in every router.
  packet,  // Every packet in every router.
  flow,    // Messages that share the links on their way.
};

Result<Fidelity> parse_fidelity(std::string_view text);
const char* to_text(Fidelity fidelity);
// From the list of --compare-models: two or more, each once.
Result<std::vector<Fidelity>> parse_models(std::string_view list);
// Whether threads share the work; other models have one worker, whatever is asked for.
inline bool has_workers(Fidelity fidelity) {
  return fidelity != Fidelity::flow;
}

struct NetworkModel {
  Fidelity fidelity = Fidelity::packet;
  FlowModel flow;
  FlitModel flit;
};

// As Network::make().
Result<std::unique_ptr<Network>> make_network(const NetworkModel& model, const Topology& topology,
                                              const NetworkHardware& machine, const Policy& policy,
                                              Host& host, const NetworkOptions& options);

}  // namespace weft
