// SPDX-License-Identifier: Apache-2.0
// The latency of an idle network.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "weft/study/traffic/experiment.hpp"

#include <weft/simulate/router/network.hpp>

namespace weft {
namespace {

// Packets that are really sent; pairs whose ways are walked where it is enough to know their
// length.
constexpr std::uint64_t pairs_max = 200'000, walks_max = 1'100'000;
constexpr std::uint32_t nodes_max_all = 1024, nodes_max_fixed = 16384;
constexpr std::uint64_t sample_size = 4096;

struct Probe {
  NodeId from, to;
  int flits = 1;
  std::uint64_t weight = 1;
};

std::vector<Probe> every_probe(const Scenario& scenario) {
  std::vector<Probe> probes;
  std::vector<Pattern::Share> shares;
  for (std::uint32_t n = 0; n < scenario.nodes(); ++n) {
    shares.clear();
    scenario.pattern->shares(NodeId(n), shares);
    for (const Pattern::Share& share : shares)
      for (const PacketSizes::Kind& kind : scenario.sizes.kinds())
        if (share.weight > 0)
          probes.push_back({NodeId(n), share.to, kind.flits, share.weight * kind.weight});
  }
  return probes;
}

std::vector<Probe> drawn_probes(const Scenario& scenario) {
  Rng rng = Rng(scenario.seed).stream("zero load");
  std::vector<Probe> probes;
  for (std::uint64_t i = 0; i < sample_size; ++i) {
    const NodeId from(static_cast<std::uint32_t>(rng.below(scenario.nodes())));
    const NodeId to = scenario.pattern->destination(from, rng);
    probes.push_back({from, to, scenario.sizes.draw(rng), 1});
  }
  std::stable_sort(probes.begin(), probes.end(),
                   [](const Probe& a, const Probe& b) { return a.from < b.from; });
  return probes;
}

// Every output of an idle router is as good as any other.
class IdleView final : public PortView {
 public:
  IdleView(const Graph& graph, RouterId here, Bytes buffer)
      : graph_(graph), here_(here), buffer_(buffer) {}
  bool up(int port) const override {
    return graph_.ports(here_)[static_cast<std::size_t>(port)].usable();
  }
  Bytes free(int, int) const override { return buffer_; }
  Bytes queued(int) const override { return {}; }

 private:
  const Graph& graph_;
  RouterId here_;
  Bytes buffer_;
};

// Links on the way of a lone packet; -1 where the routing leads nowhere.
int walk(const Scenario& scenario, const Probe& probe, std::uint64_t bits) {
  const Graph& graph = scenario.topology->graph;
  Flight flight{.destination = graph.router_of(probe.to),
                .hops = 0,
                .state = bits,
                .source_node = probe.from,
                .destination_node = probe.to};
  RouterId here = graph.router_of(probe.from);
  Choices choices;
  for (int hops = 0; hops <= scenario.policy->facts().hops_max; ++hops) {
    choices.clear();
    const IdleView view(graph, here, scenario.hardware.buffer_size());
    scenario.policy->next(here, flight, view, choices);
    if (choices.empty()) return -1;
    if (choices[0].port == Choice::eject) return hops;
    flight.state = choices[0].state;
    flight.hops = static_cast<std::uint8_t>(std::min(hops + 1, 255));
    here = graph.ports(here)[choices[0].port].peer;
  }
  return -1;
}

// Where all cables are alike, a lone packet's latency depends on its size and the length of its way
// alone: one probe for each such pair stands for all, with the weight of all.
std::vector<Probe> probes_by_length(const Scenario& scenario, const std::vector<Probe>& all) {
  const Rng bits = Rng(scenario.seed).stream("zero load");
  std::map<std::pair<int, int>, Probe> found;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const int hops = walk(scenario, all[k], bits.at(k));
    if (hops < 0) return {};
    Probe& probe =
        found.try_emplace({hops, all[k].flits}, Probe{all[k].from, all[k].to, all[k].flits, 0})
            .first->second;
    probe.weight += all[k].weight;
  }
  std::vector<Probe> probes;
  for (const auto& [key, probe] : found) probes.push_back(probe);
  std::stable_sort(probes.begin(), probes.end(),
                   [](const Probe& a, const Probe& b) { return a.from < b.from; });
  return probes;
}

// Probe k leaves at k times the gap. Probes of one node follow each other.
class Prober final : public Host {
 public:
  Prober(const Scenario& scenario, const std::vector<Probe>& probes, Duration gap)
      : scenario_(scenario), probes_(probes), gap_(gap) {}

  void attach(Network& network) {
    network_ = &network;
    for (std::size_t k = 0; k < probes_.size(); ++k)
      if (k == 0 || probes_[k].from != probes_[k - 1].from)
        network.set_alarm(probes_[k].from, departure(k));
  }
  Time departure(std::size_t k) const { return Time::zero() + gap_ * static_cast<std::int64_t>(k); }
  Time alarm(int, NodeId node, Time now) override {
    const auto k = static_cast<std::size_t>(now.since_start() / gap_);
    const Probe& probe = probes_[k];
    network_->send(node, probe.to, scenario_.packet_size(probe.flits), now, k);
    const bool more = k + 1 < probes_.size() && probes_[k + 1].from == node;
    return more ? departure(k + 1) : Time::never();
  }
  void delivered(int, const Delivery& d) override {
    const Probe& probe = probes_[static_cast<std::size_t>(d.cookie)];
    const Duration latency = d.arrived - d.born;
    // The last flit's credits need a little longer to come back.
    if (latency > gap_ / 2) late_ = true;
    latency_ps_ += static_cast<detail::UnsignedWide>(latency.in_ps()) * probe.weight;
    most_ = std::max(most_, latency);
    hops_ += static_cast<detail::UnsignedWide>(d.hops) * probe.weight;
    weight_ += probe.weight;
    ++arrived_;
  }

  bool late() const { return late_; }
  std::uint64_t arrived() const { return arrived_; }
  double mean_ps() const { return static_cast<double>(latency_ps_) / static_cast<double>(weight_); }
  Duration most() const { return most_; }
  double mean_hops() const { return static_cast<double>(hops_) / static_cast<double>(weight_); }

 private:
  const Scenario& scenario_;
  const std::vector<Probe>& probes_;
  const Duration gap_;
  Network* network_ = nullptr;
  detail::UnsignedWide latency_ps_ = 0, hops_ = 0, weight_ = 0;
  std::uint64_t arrived_ = 0;
  Duration most_;
  bool late_ = false;
};

// More than any packet should need; if it is not, the caller tries again with more.
Duration generous_gap(const Scenario& scenario) {
  const NetworkHardware& m = scenario.hardware;
  Duration cable = std::max(m.link.delay, m.node_link.delay);
  Rate slowest = m.link.rate;
  for (const auto& [name, own] : m.link_class) {
    cable = std::max(cable, own.delay);
    slowest = std::min(slowest, own.rate);
  }
  for (const Rate rate : {m.inject_rate, m.eject_rate, m.switch_rate})
    if (rate > Rate()) slowest = std::min(slowest, rate);
  const Duration hop = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay + cable * 2;
  const int hops = scenario.policy->facts().hops_max + 3;
  return 2 * (hop * hops + serialise(m.packet_max(), slowest) * 3 + m.inject_delay + m.eject_delay);
}

}  // namespace

Result<ZeroLoad> zero_load_latency(const Scenario& scenario) {
  const std::uint32_t nodes = scenario.nodes();
  bool exact = nodes <= (scenario.pattern->fixed() ? nodes_max_fixed : nodes_max_all);
  std::vector<Probe> probes = exact ? every_probe(scenario) : drawn_probes(scenario);
  if (probes.size() > pairs_max) {
    const bool alike = scenario.hardware.link_class.empty() && probes.size() <= walks_max;
    probes = alike ? probes_by_length(scenario, probes) : std::vector<Probe>();
    exact = !probes.empty();
    if (!exact) probes = drawn_probes(scenario);
  }
  Duration gap = generous_gap(scenario);
  for (int tries = 0; tries < 8; ++tries, gap = gap * 4) {
    Prober prober(scenario, probes, gap);
    auto network =
        make_network(scenario.model, *scenario.topology, scenario.hardware, *scenario.policy,
                     prober, {.seed = scenario.seed, .workers = 1, .window = {}});
    if (!network) return std::move(network).error();
    prober.attach(**network);
    const auto ran = (*network)->run(prober.departure(probes.size() + 8));
    if (!ran) return ran.error();
    if (prober.late() || prober.arrived() != probes.size()) continue;
    const auto cycle_ps = static_cast<double>(scenario.cycle().in_ps());
    return ZeroLoad{.latency_cycles = prober.mean_ps() / cycle_ps,
                    .latency_max_cycles = static_cast<double>(prober.most().in_ps()) / cycle_ps,
                    .hops = prober.mean_hops(),
                    .exact = exact,
                    .packets = prober.arrived()};
  }
  return Error::run("a packet alone in the network does not arrive");
}

}  // namespace weft
