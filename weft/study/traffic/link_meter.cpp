// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/link_meter.hpp"

#include <algorithm>

namespace weft {

void LinkMeter::begin(const Network& network, Time now) {
  const Graph& graph = scenario_.topology->graph;
  here_.clear();
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    if (!network.is_here(RouterId(r))) continue;
    const auto ports = graph.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const LinkId link = graph.link(RouterId(r), static_cast<int>(p));
      if (!ports[p].usable()) continue;
      const LinkCount count = network.link(link, now);
      here_.push_back({link.index, count.bytes, count.news});
    }
  }
  nodes_here_.clear();
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (!network.is_here(NodeId(n))) continue;
    const NodeLinkCount count = network.node_link(NodeId(n), now);
    nodes_here_.push_back({n, count.injected.bytes, count.ejected.bytes});
  }
}

void LinkMeter::end(const Network& network, Time now) {
  for (Carried& one : here_) {
    const LinkCount count = network.link(LinkId(one.link), now);
    one.bytes = count.bytes - one.bytes;
    one.news = count.news - one.news;
  }
  for (NodeCarried& one : nodes_here_) {
    const NodeLinkCount count = network.node_link(NodeId(one.node), now);
    one.injected = count.injected.bytes - one.injected;
    one.ejected = count.ejected.bytes - one.ejected;
  }
}

void LinkMeter::pack(Packer& letter) const {
  letter.put_list(here_);
  letter.put_list(nodes_here_);
}

void LinkMeter::add(Unpacker& letter) {
  bytes_.resize(scenario_.topology->graph.link_count());
  news_.resize(bytes_.size());
  for (const Carried& one : letter.take_list<Carried>()) {
    bytes_[one.link] += one.bytes;
    news_[one.link] += one.news;
  }
  injected_.resize(scenario_.topology->graph.node_count());
  ejected_.resize(injected_.size());
  for (const NodeCarried& one : letter.take_list<NodeCarried>()) {
    injected_[one.node] += one.injected;
    ejected_[one.node] += one.ejected;
  }
}

Rate LinkMeter::rate_of(const Port& port) const {
  const NetworkHardware& hardware = scenario_.hardware;
  const auto own =
      hardware.link_class.find(scenario_.topology->graph.link_classes()[port.link_class]);
  return own == hardware.link_class.end() ? hardware.link.rate : own->second.rate;
}

void LinkMeter::add_node_use(double seconds, LinkUse& found) const {
  const double inject = scenario_.hardware.injection_rate().in_byte_per_s() * seconds;
  const double eject = scenario_.hardware.ejection_rate().in_byte_per_s() * seconds;
  double sum = 0;
  for (std::uint32_t n = 0; n < injected_.size(); ++n) {
    const double out = static_cast<double>(injected_[n]) / inject;
    const double in = static_cast<double>(ejected_[n]) / eject;
    sum += out + in;
    if (std::max(out, in) <= found.node_max) continue;
    found.node_max = std::max(out, in);
    found.busiest_node = NodeId(n);
    found.busiest_ejects = in >= out;
  }
  if (!injected_.empty()) found.node_mean = sum / static_cast<double>(2 * injected_.size());
}

LinkUse LinkMeter::use(Duration window) const {
  const Graph& graph = scenario_.topology->graph;
  const double seconds = window.in_seconds();
  LinkUse found;
  const auto flit = static_cast<double>(scenario_.hardware.flit.count);
  double sum = 0, news_sum = 0;
  std::uint64_t usable = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const Port& port = graph.port(LinkId(l));
    if (!port.usable()) continue;
    const double most = rate_of(port).in_byte_per_s() * seconds;
    const double share = static_cast<double>(bytes_[l]) / most;
    const double news = static_cast<double>(news_[l]) * flit / most;
    sum += share;
    news_sum += news;
    found.news_max = std::max(found.news_max, news);
    ++usable;
    if (share > found.max) {
      found.max = share;
      found.busiest = LinkId(l);
    }
  }
  if (usable > 0) {
    found.mean = sum / static_cast<double>(usable);
    found.news_mean = news_sum / static_cast<double>(usable);
  }
  add_node_use(seconds, found);
  return found;
}

}  // namespace weft
