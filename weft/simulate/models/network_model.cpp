// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/models/network_model.hpp"

#include <algorithm>
#include <string>

#include <weft/base/text.hpp>
#include <weft/simulate/flits/flit_network.hpp>
#include <weft/simulate/flows/flow_network.hpp>

namespace weft {

Result<Fidelity> parse_fidelity(std::string_view text) {
  for (const Fidelity fidelity : {Fidelity::flit, Fidelity::packet, Fidelity::flow})
    if (text == to_text(fidelity)) return fidelity;
  return Error::call("'" + std::string(text) + "' is not flit, packet or flow");
}

Result<std::vector<Fidelity>> parse_models(std::string_view list) {
  std::vector<Fidelity> models;
  for (const std::string_view word : split(list, ',')) {
    const auto model = parse_fidelity(trim(word));
    if (!model) return Error::call("--compare-models: " + model.error().message());
    if (std::find(models.begin(), models.end(), *model) != models.end())
      return Error::call("--compare-models: '" + std::string(trim(word)) + "' stands there twice");
    models.push_back(*model);
  }
  if (models.size() < 2)
    return Error::call("--compare-models: give at least two, as in packet,flow");
  return models;
}

const char* to_text(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::flit:
      return "flit";
    case Fidelity::packet:
      return "packet";
    case Fidelity::flow:
      return "flow";
  }
  return "";
}

Result<std::unique_ptr<Network>> make_network(const NetworkModel& model, const Topology& topology,
                                              const NetworkHardware& machine, const Policy& policy,
                                              Host& host, const NetworkOptions& options) {
  switch (model.fidelity) {
    case Fidelity::flit:
      return make_flit_network(topology, machine, policy, host, options, model.flit);
    case Fidelity::flow:
      return make_flow_network(topology, machine, policy, host, options, model.flow);
    case Fidelity::packet:
      break;
  }
  return Network::make(topology, machine, policy, host, options);
}

}  // namespace weft
