// SPDX-License-Identifier: Apache-2.0
// Every routing policy under load that it cannot carry, for as many packet-hops as asked for:
// things must keep arriving, nothing may be lost or come twice, and no packet may wander. Patterns
// change on the way, because what jams one policy is a feast for another.
//
// Usage: endurance [HOPS [POLICY...]]     (10^8 and all; a line per policy and network)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <weft/simulate/router/network.hpp>
#include <weft/workload/patterns/pattern.hpp>

namespace weft {
namespace {

constexpr int outstanding_max = 24;  // Of a node: all buffers on its ways, and more.
constexpr Duration phase = Duration::us(20);

class Flood final : public Host {
 public:
  Flood(const Topology& topology, Grid grid, int hops_max)
      : hops_max_(hops_max), outstanding_(topology.graph.node_count(), 0), rng_(1) {
    for (const char* name : {"tornado", "transpose", "bit-complement", "hotspot:0.4@0,1", "shuffle",
                             "uniform", "bit-reverse", "neighbour", "derangement:3"}) {
      auto made = make_pattern(name, grid, 1);
      if (made) patterns_.push_back(*std::move(made));
    }
  }
  void attach(Network& network) {
    network_ = &network;
    for (std::uint32_t n = 0; n < outstanding_.size(); ++n)
      network.set_alarm(NodeId(n), Time::ps(0));
  }
  void stop() { stopped_ = true; }

  Time alarm(int, NodeId node, Time now) override {
    if (stopped_) return Time::never();
    const auto kind = static_cast<std::size_t>(now.in_ps() / phase.in_ps()) % patterns_.size();
    while (outstanding_[node.index] < outstanding_max) {
      ++outstanding_[node.index];
      arrived_.push_back(false);
      const Bytes size{rng_.below(4) == 0 ? 256 : 1 + static_cast<std::int64_t>(rng_.below(64))};
      network_->send(node, patterns_[kind]->destination(node, rng_), size, now,
                     arrived_.size() - 1);
    }
    return now + Duration::ns(8);
  }
  void delivered(int, const Delivery& d) override {
    --outstanding_[d.from.index];
    ++count_;
    if (arrived_[d.cookie]) twice_ = true;
    arrived_[d.cookie] = true;
    if (d.hops > hops_max_) wandered_ = true;
  }

  std::uint64_t count() const { return count_; }
  std::string complaint() const {
    if (twice_) return "a message came twice";
    if (wandered_) return "a packet took more hops than the policy allows";
    return stopped_ && count_ != arrived_.size() ? "messages are missing" : "";
  }

 private:
  int hops_max_;
  std::vector<int> outstanding_;
  Rng rng_;
  std::vector<std::unique_ptr<Pattern>> patterns_;
  Network* network_ = nullptr;
  std::vector<bool> arrived_;
  std::uint64_t count_ = 0;
  bool stopped_ = false, twice_ = false, wandered_ = false;
};

struct Trial {
  std::string routing, spec;
  NewsMode mode = NewsMode::inband;
};

Grid grid_of(const Topology& topology) {
  if (const Lattice* const lattice = topology.shape->lattice()) return {lattice->radix, 1};
  return {{static_cast<int>(topology.graph.node_count())}, 1};
}

std::string endure(const Trial& trial, std::uint64_t hops, NetworkCounts& counts) {
  const Topology topology = *make_topology(trial.spec);
  NetworkHardware machine;
  machine.vcs = vcs_needed(trial.routing, topology);
  machine.news.mode = trial.mode;
  machine.mtu = Bytes{64};
  auto policy = make_policy(trial.routing, topology, machine.vcs);
  if (!policy) return policy.error().text();
  Flood flood(topology, grid_of(topology), (*policy)->facts().hops_max);
  auto network = Network::make(topology, machine, **policy, flood, {});
  if (!network) return network.error().text();
  flood.attach(**network);
  Time now = Time::ps(0);
  std::uint64_t before = 0;
  for (bool remains = true; remains;) {
    now = now + Duration::us(20);
    auto ran = (*network)->run(now);
    if (!ran) return ran.error().text();
    remains = *ran;
    counts = (*network)->counts();
    if (counts.hops >= hops) flood.stop();
    if (remains && flood.count() == before) {
      const std::string circle = (*network)->find_deadlock();
      return circle.empty() ? "nothing arrived for 20 us" : circle;
    }
    before = flood.count();
    if (const std::string wrong = flood.complaint();
        !wrong.empty() && (!remains || counts.hops < hops))
      return wrong;
  }
  return counts.packets_sent == counts.packets_delivered ? "" : "packets are missing";
}

std::vector<Trial> all_trials() {
  std::vector<Trial> trials;
  for (const char* spec : {"mesh:8x8", "torus:8x8", "fattree:k=4,levels=3", "dragonfly:a=4,h=2,p=2",
                           "hyperx:4x4x3", "torus:4x4x4", "slimfly:q=5,p=2", "polarfly:q=5,p=2",
                           "random:n=40,d=4", "xpander:d=4,lift=8"}) {
    const Topology topology = *make_topology(spec);
    for (const PolicyEntry& entry : builtin_policies())
      if (entry.vcs_needed(topology) > 0) trials.push_back({std::string(entry.name), spec});
  }
  for (const char* spec : {"mesh:8x8", "torus:8x8"}) {
    for (const char* words : {"crossline:nofold", "crossline:escape", "crossline:escape,cut",
                              "crossline:once", "crossline:better-net"})
      trials.push_back({words, spec});
    trials.push_back({"crossline", spec, NewsMode::sideband});
    trials.push_back({"crossline", spec, NewsMode::instant});
  }
  return trials;
}

int run(std::uint64_t hops, const std::vector<std::string>& wanted) {
  const std::vector<Trial> trials = all_trials();
  std::map<std::string, std::size_t> shares;  // Networks over which a policy's hops are spread.
  for (const Trial& trial : trials) ++shares[trial.routing];
  int failed = 0;
  for (const Trial& trial : trials) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), trial.routing) == wanted.end())
      continue;
    const auto start = std::chrono::steady_clock::now();
    NetworkCounts counts;
    const std::string wrong = endure(trial, hops / shares[trial.routing], counts);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{:<26} {:<22} {:>11} hops {:>10} packets {:>7.1f} s  {}\n", trial.routing,
               trial.spec, counts.hops, counts.packets_delivered, took.count(),
               wrong.empty() ? "ok" : wrong);
    std::fflush(stdout);
    failed += wrong.empty() ? 0 : 1;
  }
  fmt::print("{} of {} failed\n", failed, trials.size());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  const std::uint64_t hops = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000;
  return weft::run(hops, std::vector<std::string>(argv + std::min(argc, 2), argv + argc));
}
