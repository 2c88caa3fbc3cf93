// SPDX-License-Identifier: Apache-2.0
#include "weft/traffic/link_meter.hpp"

namespace weft {

void LinkMeter::begin(const Network& network) {
  const Graph& graph = scenario_.topology->graph;
  here_.clear();
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    if (!network.is_here(RouterId(r))) continue;
    const auto ports = graph.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const LinkId link = graph.link(RouterId(r), static_cast<int>(p));
      if (ports[p].usable()) here_.push_back({link.index, network.link(link).bytes});
    }
  }
}

void LinkMeter::end(const Network& network) {
  for (Carried& one : here_) one.bytes = network.link(LinkId(one.link)).bytes - one.bytes;
}

void LinkMeter::pack(Packer& letter) const {
  letter.put_list(here_);
}

void LinkMeter::add(Unpacker& letter) {
  bytes_.resize(scenario_.topology->graph.link_count());
  for (const Carried& one : letter.take_list<Carried>()) bytes_[one.link] += one.bytes;
}

Rate LinkMeter::rate_of(const Port& port) const {
  const Machine& machine = scenario_.machine;
  const auto own =
      machine.link_class.find(scenario_.topology->graph.link_classes()[port.link_class]);
  return own == machine.link_class.end() ? machine.link.rate : own->second.rate;
}

LinkUse LinkMeter::use(Duration window) const {
  const Graph& graph = scenario_.topology->graph;
  const double seconds = window.in_seconds();
  LinkUse found;
  double sum = 0;
  std::uint64_t usable = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const Port& port = graph.port(LinkId(l));
    if (!port.usable()) continue;
    const double share = static_cast<double>(bytes_[l]) / (rate_of(port).in_byte_per_s() * seconds);
    sum += share;
    ++usable;
    if (share > found.max) {
      found.max = share;
      found.busiest = LinkId(l);
    }
  }
  if (usable > 0) found.mean = sum / static_cast<double>(usable);
  return found;
}

}  // namespace weft
