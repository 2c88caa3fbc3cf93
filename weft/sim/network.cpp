// SPDX-License-Identifier: Apache-2.0
#include "weft/sim/network.hpp"

#include <weft/sim/engine.hpp>

namespace weft {

Result<std::unique_ptr<Network>> Network::make(const Topology& topology, const Machine& machine,
                                               const Policy& policy, Host& host,
                                               const NetworkOptions& options) {
  if (Status status = check_machine(machine); !status) return std::move(status).error();
  if (Status status = detail::Engine::fits(topology, machine); !status)
    return std::move(status).error();
  return std::unique_ptr<Network>(
      new Network(std::make_unique<detail::Engine>(topology, machine, policy, host, options)));
}

Network::Network(std::unique_ptr<detail::Engine> engine) : engine_(std::move(engine)) {}
Network::~Network() = default;

void Network::set_alarm(NodeId node, Time at) {
  engine_->set_alarm(node, at);
}
void Network::send(const Outgoing& message, Time now) {
  engine_->send(message, now);
}
Result<bool> Network::run(Time until) {
  return engine_->run(until);
}
std::string Network::find_deadlock() const {
  return engine_->find_deadlock();
}
NetworkCounts Network::counts() const {
  return engine_->counts();
}
LinkCount Network::link(LinkId link) const {
  return engine_->link(link);
}
BufferLevel Network::buffer(RouterId router, int port, int vc, Time at) const {
  return engine_->buffer(router, port, vc, at);
}
MemoryUse Network::memory() const {
  return engine_->memory();
}
Duration Network::window() const {
  return engine_->window();
}
Duration Network::ahead() const {
  return engine_->ahead();
}

}  // namespace weft
