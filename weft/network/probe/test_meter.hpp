// SPDX-License-Identifier: Apache-2.0
// A known tree of switches and a noisy meter on it: for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <weft/base/rng.hpp>
#include <weft/network/probe/meter.hpp>
#include <weft/network/topo/graph_file.hpp>

namespace weft::probe {

struct TestTree {
  std::vector<int> parent;             // By switch; -1 for the first.
  std::vector<double> latency_ns;      // One way, of the link to the parent.
  std::vector<double> rate_bit_per_s;  // Rate of that link.
  std::vector<std::uint32_t> on;       // By host.
  double host_ns = 10'000;             // A host's share of a round trip.
  double host_bit_per_s = 1e9;

  int add(int above, double latency, double rate = 1e9) {
    parent.push_back(above);
    latency_ns.push_back(latency);
    rate_bit_per_s.push_back(rate);
    return static_cast<int>(parent.size()) - 1;
  }
  void add_hosts(int sw, int count) {
    on.insert(on.end(), static_cast<std::size_t>(count), static_cast<std::uint32_t>(sw));
  }
  // Switches on the path to the root, the first included.
  std::vector<int> way_up(std::uint32_t sw) const {
    std::vector<int> way;
    for (int at = static_cast<int>(sw); at >= 0; at = parent[static_cast<std::size_t>(at)])
      way.push_back(at);
    return way;
  }
  // Links of a path, each named by its lower switch: those upwards, then those downwards.
  std::pair<std::vector<int>, std::vector<int>> way(std::uint32_t a, std::uint32_t b) const {
    auto up = way_up(on[a]), down = way_up(on[b]);
    while (!up.empty() && !down.empty() && up.back() == down.back()) {
      up.pop_back();
      down.pop_back();
    }
    return {up, down};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < on.size(); ++i) out.push_back("h" + std::to_string(i));
    return out;
  }
  Topology topology() const {
    std::string text = "weft-graph 1\n";
    for (std::size_t i = 0; i < parent.size(); ++i) text += fmt::format("router r{}\n", i);
    for (std::size_t i = 0; i < on.size(); ++i) text += fmt::format("node h{} r{}\n", i, on[i]);
    for (std::size_t i = 0; i < parent.size(); ++i)
      if (parent[i] >= 0) text += fmt::format("link r{} r{}\n", i, parent[i]);
    return *read_graph_text(text, "truth");
  }
  void shuffle(Rng& rng) {
    for (std::size_t i = on.size(); i > 1; --i) std::swap(on[i - 1], on[rng.below(i)]);
  }
};

// Three levels with random fan-outs and about this many hosts.
inline TestTree random_tree(Rng& rng, std::uint32_t hosts) {
  TestTree tree;
  tree.add(-1, 0);
  const auto delay = [&] { return 2'000.0 + static_cast<double>(rng.below(8'000)); };
  while (tree.on.size() < hosts) {
    const int middle = tree.add(0, delay());
    const auto leaves = 2 + rng.below(9);
    for (std::uint64_t i = 0; i < leaves && tree.on.size() < hosts; ++i)
      tree.add_hosts(tree.add(middle, delay()), static_cast<int>(2 + rng.below(23)));
  }
  return tree;
}

class TestMeter : public Meter {
 public:
  TestMeter(const TestTree& tree, double noise, std::uint64_t seed)
      : tree_(tree), noise_(noise), rng_(seed) {}

  std::vector<double> round_trips_ns(std::span<const Pair> pairs) override {
    std::vector<double> out;
    for (const Pair& pair : pairs) {
      double least = 1e18;
      for (int i = 0; i < 8; ++i) least = std::min(least, once(pair));
      out.push_back(least);
    }
    for (const auto& round : plan_rounds(pairs)) {
      std::size_t longest = 0;
      for (const Errand& errand : round) {
        longest = std::max(longest, errand.pairs.size());
        if (round.size() == 1) continue;
        for (const std::uint32_t pair : errand.pairs) out[pair] += crowd_ns;
      }
      elapsed_s_ += static_cast<double>(longest) * 8 * 100e-6;
    }
    return out;
  }

  // Max-min fair: the link with the smallest share per flow fills first.
  std::vector<double> flows_bit_per_s(std::span<const Pair> pairs) override {
    std::vector<std::vector<std::size_t>> users(2 * (tree_.parent.size() + tree_.on.size()));
    std::vector<double> left(users.size());
    const std::size_t hosts = 2 * tree_.parent.size();
    for (std::size_t i = 0; i < users.size(); ++i)
      left[i] = i < hosts ? tree_.rate_bit_per_s[i / 2] : tree_.host_bit_per_s;
    for (std::size_t f = 0; f < pairs.size(); ++f) {
      const auto [up, down] = tree_.way(pairs[f].from, pairs[f].to);
      for (const int sw : up) users[2 * static_cast<std::size_t>(sw)].push_back(f);
      for (const int sw : down) users[2 * static_cast<std::size_t>(sw) + 1].push_back(f);
      users[hosts + std::size_t{2} * pairs[f].from].push_back(f);
      users[hosts + std::size_t{2} * pairs[f].to + 1].push_back(f);
    }
    std::vector<double> rate(pairs.size(), -1);
    for (;;) {
      double least = 1e300;
      std::size_t narrow = 0;
      for (std::size_t i = 0; i < users.size(); ++i) {
        const double share = share_of(users[i], rate, left[i]);
        if (share >= least) continue;
        least = share;
        narrow = i;
      }
      if (least > 1e299) break;
      for (const std::size_t f : users[narrow])
        if (rate[f] < 0) rate[f] = least;
    }
    for (double& r : rate) r *= 1 + noise_ * (uniform() - 0.5);
    elapsed_s_ += 0.02;
    return rate;
  }
  double elapsed_s() override { return elapsed_s_; }
  bool interrupted() override { return false; }

  std::vector<double> extra_ns;  // By host: extra delay of noisy ones.
  double crowd_ns = 0;           // Delay that concurrent measurements add to each other.
  double first_link_ns = 0;      // Extra cost of the first link: delays do not add up.

 private:
  static double share_of(const std::vector<std::size_t>& users, const std::vector<double>& rate,
                         double left) {
    std::size_t open = 0;
    for (const std::size_t f : users) {
      if (rate[f] < 0)
        ++open;
      else
        left -= rate[f];
    }
    return open == 0 ? 1e300 : left / static_cast<double>(open);
  }
  double uniform() { return static_cast<double>(rng_.next() >> 11) * 0x1p-53; }
  double once(const Pair& pair) {
    const auto [up, down] = tree_.way(pair.from, pair.to);
    double sum = 2 * tree_.host_ns;
    for (const int sw : up) sum += 2 * tree_.latency_ns[static_cast<std::size_t>(sw)];
    for (const int sw : down) sum += 2 * tree_.latency_ns[static_cast<std::size_t>(sw)];
    if (!up.empty() || !down.empty()) sum += first_link_ns;
    sum *= 1 - noise_ * std::log(1 - uniform());
    for (const std::uint32_t host : {pair.from, pair.to})
      if (host < extra_ns.size()) sum += extra_ns[host] * uniform();
    return sum;
  }

  const TestTree& tree_;
  double noise_;
  Rng rng_;
  double elapsed_s_ = 0;
};

}  // namespace weft::probe
