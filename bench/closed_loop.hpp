// SPDX-License-Identifier: Apache-2.0
// Loads for benchmarks of the router model. In closed loop a node sends its next message when it
// has received one, so simulated congestion decides the pace; in open loop the clock does.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft::bench {

class Load : public Host {
 public:
  explicit Load(std::uint32_t nodes) : times_(nodes, 0) {}
  // The first alarm of each node rings at first_at().
  void start(Network& network) {
    network_ = &network;
    for (std::uint32_t n = 0; n < nodes(); ++n) network.set_alarm(NodeId(n), first_at(NodeId(n)));
  }
  void delivered(int, const Delivery& d) override {
    // Of one node at a time, so workers need not agree on an order.
    times_[d.to.index] = mix(times_[d.to.index] + static_cast<std::uint64_t>(d.arrived.in_ps()));
  }
  // Of every arrival: a faster engine must not change it.
  double checksum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t t : times_) sum += t;
    return static_cast<double>(sum % 1'000'000'007);
  }

 protected:
  virtual Time first_at(NodeId) const { return Time::zero(); }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(times_.size()); }
  Network& network() { return *network_; }

 private:
  Network* network_ = nullptr;
  std::vector<std::uint64_t> times_;
};

// Step s of node n goes to partner(s, n); the next step starts when this step's message has come
// in.
class Steps : public Load {
 public:
  Steps(std::uint32_t nodes, int steps, Bytes size)
      : Load(nodes), size_(size), steps_(steps), received_(nodes, 0), sent_(nodes, 0) {}
  Time alarm(int, NodeId node, Time now) override {
    // A partner may be a step ahead: as many sends as receipts, plus the first.
    while (sent_[node.index] < steps_ && sent_[node.index] <= received_[node.index]) {
      network().send(node, partner(sent_[node.index]++, node), size_, now);
    }
    return Time::never();
  }
  void delivered(int worker, const Delivery& d) override {
    ++received_[d.to.index];
    network().set_alarm(d.to, d.arrived);
    Load::delivered(worker, d);
  }

 protected:
  virtual NodeId partner(int step, NodeId node) const = 0;

 private:
  Bytes size_;
  int steps_;
  std::vector<int> received_, sent_;
};

// Every node sends a message to a random other one after each interval, whatever the network does.
class OpenLoop final : public Load {
 public:
  OpenLoop(std::uint32_t nodes, int messages, Bytes size, Duration interval)
      : Load(nodes), size_(size), interval_(interval), messages_(messages), sent_(nodes, 0) {}
  Time alarm(int, NodeId node, Time now) override {
    int& sent = sent_[node.index];
    Rng rng = Rng(11).stream("open",
                             (std::uint64_t{node.index} << 32) | static_cast<std::uint64_t>(sent));
    const auto to = static_cast<std::uint32_t>(rng.below(nodes() - 1));
    network().send(node, NodeId(to < node.index ? to : to + 1), size_, now);
    return ++sent < messages_ ? now + interval_ : Time::never();
  }

 protected:
  // Not all at once.
  Time first_at(NodeId node) const override {
    Rng rng = Rng(11).stream("phase", node.index);
    return Time::ps(static_cast<std::int64_t>(
        rng.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, interval_.in_ps())))));
  }

 private:
  Bytes size_;
  Duration interval_;
  int messages_;
  std::vector<int> sent_;
};

class Bruck final : public Steps {
 public:
  using Steps::Steps;
  NodeId partner(int step, NodeId node) const override {
    const int bits = static_cast<int>(std::bit_width(nodes())) - 1;
    return NodeId((node.index + (1u << (step % bits))) % nodes());
  }
};

class Permutations final : public Steps {
 public:
  Permutations(std::uint32_t nodes, int steps, Bytes size) : Steps(nodes, steps, size) {
    for (int s = 0; s < steps; ++s) {
      Rng rng = Rng(7).stream("permutation", static_cast<std::uint64_t>(s));
      std::vector<std::uint32_t> to(nodes);
      for (std::uint32_t n = 0; n < nodes; ++n) to[n] = n;
      for (std::uint32_t n = nodes - 1; n > 0; --n) std::swap(to[n], to[rng.below(n + 1)]);
      to_.push_back(std::move(to));
    }
  }
  NodeId partner(int step, NodeId node) const override {
    return NodeId(to_[static_cast<std::size_t>(step)][node.index]);
  }

 private:
  std::vector<std::vector<std::uint32_t>> to_;
};

class Uniform final : public Steps {
 public:
  using Steps::Steps;
  NodeId partner(int step, NodeId node) const override {
    Rng rng = Rng(9).stream("uniform",
                            (std::uint64_t{node.index} << 16) | static_cast<std::uint64_t>(step));
    return NodeId(static_cast<std::uint32_t>(rng.below(nodes())));
  }
};

}  // namespace weft::bench
