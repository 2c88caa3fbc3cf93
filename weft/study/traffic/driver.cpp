// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/driver.hpp"

#include <algorithm>
#include <utility>

namespace weft {

void Measured::merge(const Measured& other) {
  born += other.born;
  born_flits += other.born_flits;
  accepted_flits += other.accepted_flits;
  latency_ps.merge(other.latency_ps);
  network_ps.merge(other.network_ps);
  hops.merge(other.hops);
  latencies_ps.merge(other.latencies_ps);
}

void Measured::pack(Packer& letter) const {
  for (const std::uint64_t number : {born, born_flits, accepted_flits}) letter.put(number);
  for (const Running* numbers : {&latency_ps, &network_ps, &hops}) letter.put(*numbers);
  latencies_ps.pack(letter);
}

Measured Measured::unpack(Unpacker& letter) {
  Measured made;
  for (std::uint64_t* number : {&made.born, &made.born_flits, &made.accepted_flits})
    *number = letter.take<std::uint64_t>();
  for (Running* numbers : {&made.latency_ps, &made.network_ps, &made.hops})
    *numbers = letter.take<Running>();
  made.latencies_ps = Histogram::unpack(letter);
  return made;
}

void Totals::merge(const Totals& other) {
  born += other.born;
  arrived += other.arrived;
  window_born += other.window_born;
  accepted_flits += other.accepted_flits;
  latency_ps.merge(other.latency_ps);
  recent_ps.merge(other.recent_ps);
}

Driver::Driver(const Scenario& scenario, const Injection& injection, int workers)
    : scenario_(scenario),
      injection_(injection),
      cycle_(scenario.cycle()),
      nodes_(scenario.nodes()),
      received_(scenario.nodes()),
      tallies_(static_cast<std::size_t>(workers)) {
  // Streams apart, so that another pattern or mix of sizes leaves the births where they are.
  const Rng root(scenario.seed);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    nodes_[n].source = injection.start(root.stream("inject", n));
    nodes_[n].destinations = root.stream("destination", n);
    nodes_[n].sizes = root.stream("size", n);
  }
}

void Driver::attach(Network& network) {
  network_ = &network;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (network.is_here(NodeId(n)))
      network.set_alarm(NodeId(n), Time::zero() + cycle_ * (injection_.gap(nodes_[n].source) - 1));
}

void Driver::begin_slice(Time end, bool measuring) {
  if (measuring && !measuring_) window_begin_ = slice_end_;
  if (!measuring && measuring_) window_end_ = slice_end_;
  measuring_ = measuring;
  slice_end_ = end;
  for (Tally& tally : tallies_) {
    std::vector<Late> late = std::exchange(tally.late, {});
    for (const Late& one : late) {
      if (one.at < end)
        accept(tally, one.to, one.flits);
      else
        tally.late.push_back(one);
    }
  }
}

Time Driver::alarm(int worker, NodeId node, Time now) {
  Node& own = nodes_[node.index];
  Tally& tally = tallies_[static_cast<std::size_t>(worker)];
  const NodeId to = scenario_.pattern->destination(node, own.destinations);
  const int flits = scenario_.sizes.draw(own.sizes);
  ++tally.born;
  if (measuring_) {
    ++tally.measured.born;
    tally.measured.born_flits += static_cast<std::uint64_t>(flits);
  }
  network_->send(node, to, scenario_.packet_size(flits), now, static_cast<std::uint64_t>(flits));
  return now + cycle_ * injection_.gap(own.source);
}

void Driver::accept(Tally& tally, NodeId to, std::uint64_t flits) {
  if (!measuring_) return;
  tally.measured.accepted_flits += flits;
  received_[to.index] += flits;
}

void Driver::delivered(int worker, const Delivery& d) {
  Tally& tally = tallies_[static_cast<std::size_t>(worker)];
  const std::int64_t latency_ps = (d.arrived - d.born).in_ps();
  ++tally.arrived;
  tally.recent_ps.add(latency_ps);
  if (d.arrived < slice_end_)
    accept(tally, d.to, d.cookie);
  else
    tally.late.push_back({d.to, d.cookie, d.arrived});
  if (d.born < window_begin_ || d.born >= window_end_) return;
  tally.measured.latency_ps.add(latency_ps);
  tally.measured.network_ps.add((d.arrived - d.entered).in_ps());
  tally.measured.hops.add(d.hops);
  tally.measured.latencies_ps.add(latency_ps);
}

Totals Driver::totals() const {
  Totals all;
  for (const Tally& tally : tallies_)
    all.merge({.born = tally.born,
               .arrived = tally.arrived,
               .window_born = tally.measured.born,
               .accepted_flits = tally.measured.accepted_flits,
               .latency_ps = tally.measured.latency_ps,
               .recent_ps = tally.recent_ps});
  return all;
}

Measured Driver::measured() const {
  Measured all;
  for (const Tally& tally : tallies_) all.merge(tally.measured);
  return all;
}

Worst Driver::worst() const {
  Worst found;
  for (std::uint32_t n = 0; n < received_.size(); ++n)
    if (network_->is_here(NodeId(n))) found = std::min(found, Worst{received_[n], n});
  return found;
}

void Driver::forget_recent() {
  for (Tally& tally : tallies_) tally.recent_ps = {};
}

}  // namespace weft
