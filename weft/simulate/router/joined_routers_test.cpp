// SPDX-License-Identifier: Apache-2.0
// Nodes with cards at several routers: what they do is the same for any window and any number of
// workers, and a card works as it does alone.
#include "weft/simulate/router/joined_routers.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {
namespace {

using Log = std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>>;

// Whatever a node hears by one card it answers at once by another, to a third node.
class Talkers final : public Host {
 public:
  Talkers(const Topology& t, std::uint64_t seed)
      : cards_(static_cast<std::uint32_t>(t.cards)), nodes_(t.computers()), log(nodes_) {
    for (std::uint32_t n = 0; n < nodes_; ++n) draws_.push_back(Rng(seed).stream("talk", n));
    due_.resize(nodes_);
    left_.assign(nodes_, 24);
  }
  void attach(Network& network) {
    network_ = &network;
    for (std::uint32_t n = 0; n < nodes_; ++n)
      if (n % 3 != 2) network.set_alarm(NodeId(n * cards_), Time::ps(100 * (n % 5)));
  }
  Time alarm(int, NodeId end, Time now) override {
    const std::uint32_t node = end.index / cards_;
    EXPECT_EQ(end.index % cards_, 0u);
    std::erase_if(due_[node], [&](Time at) { return at <= now; });
    for (int messages = 0; messages < 2 && left_[node] > 0; ++messages, --left_[node]) {
      Rng& draw = draws_[node];
      const auto to = static_cast<std::uint32_t>(draw.below(nodes_));
      const auto card = static_cast<std::uint32_t>(draw.below(cards_));
      network_->send(NodeId(node * cards_ + card), NodeId(to * cards_ + card),
                     Bytes{static_cast<std::int64_t>(draw.below(900))}, now);
    }
    const auto next = std::min_element(due_[node].begin(), due_[node].end());
    return next == due_[node].end() ? Time::never() : *next;
  }
  void delivered(int, const Delivery& d) override { note(d.to, d.from, d.arrived); }
  void departed(int, const Departure& d) override { note(d.from, d.to, d.at); }

 private:
  void note(NodeId at, NodeId other, Time when) {
    const std::uint32_t node = at.index / cards_;
    log[node].emplace_back(when.in_ps(), at.index, other.index);
    due_[node].push_back(when);
    network_->set_alarm(NodeId(node * cards_), when);
  }

  Network* network_ = nullptr;
  const std::uint32_t cards_, nodes_;
  std::vector<Rng> draws_;
  std::vector<std::vector<Time>> due_;  // By node.
  std::vector<int> left_;

 public:
  std::vector<Log> log;  // By node.
};

struct Setting {
  std::string net, routing;
  NetworkHardware hardware;
};

std::vector<Log> play(const Setting& setting, const NetworkOptions& options,
                      Duration step = Duration::zero()) {
  const auto topology = make_topology(setting.net);
  EXPECT_TRUE(topology) << topology.error().text();
  NetworkHardware hardware = setting.hardware;
  hardware.vcs = std::max(1, vcs_needed(setting.routing, *topology));
  const auto policy = make_policy(setting.routing, *topology, hardware.vcs);
  EXPECT_TRUE(policy) << policy.error().text();
  Talkers talkers(*topology, 7);
  const auto network = Network::make(*topology, hardware, **policy, talkers, options);
  EXPECT_TRUE(network) << network.error().text();
  talkers.attach(**network);
  Time until = step > Duration::zero() ? Time::zero() + step : Time::never();
  for (;; until = until + step) {
    const auto more = (*network)->run(until);
    EXPECT_TRUE(more) << more.error().text();
    if (!*more) break;
  }
  EXPECT_EQ((*network)->counts().packets_sent, (*network)->counts().packets_delivered);
  EXPECT_EQ((*network)->find_deadlock(), "");
  return talkers.log;
}

std::vector<Setting> settings() {
  NetworkHardware plain;
  plain.lookahead = true;
  NetworkHardware buffered = plain;
  buffered.output_buffer = Bytes{1024};
  NetworkHardware turns = plain;
  turns.order = SendOrder::round_robin;
  turns.link.delay = turns.link.credit_delay = Duration::ns(40);
  std::vector<Setting> made;
  for (const NetworkHardware& hardware : {plain, buffered, turns}) {
    made.push_back({"torus:3x3,p=2,planes=2", "dor", hardware});
    made.push_back({"torus:4x4,planes=3", "min-adaptive", hardware});
    made.push_back({"fattree:k=4,levels=2,rails=4", "adaptive-up", hardware});
    made.push_back({"fattree:k=4,levels=2,planes=2,rails=2", "dest-down", hardware});
    made.push_back({"dragonfly:a=4,h=2,p=2,rails=2", "ugal-l", hardware});
    made.push_back({"mesh:4x4,planes=2", "crossline", hardware});
  }
  return made;
}

TEST(JoinedRouters, NothingDependsOnWindowsAndWorkers) {
  for (const Setting& setting : settings()) {
    const std::vector<Log> first = play(setting, {});
    std::size_t events = 0;
    for (const Log& log : first) events += log.size();
    EXPECT_GT(events, 100u);
    for (const std::int64_t window : {1000, 9999})
      EXPECT_EQ(play(setting, {.window = Duration::ps(window)}), first)
          << setting.net << " " << window;
    for (const int workers : {2, 5})
      EXPECT_EQ(play(setting, {.workers = workers}), first) << setting.net << " " << workers;
    EXPECT_EQ(play(setting, {}, Duration::ps(777'777)), first) << setting.net;
    EXPECT_EQ(play(setting, {.workers = 2}, Duration::ps(333'333)), first) << setting.net;
  }
}

// Times of a lone message by each card.
TEST(JoinedRouters, CardsAreAlike) {
  class Once final : public Host {
   public:
    Time alarm(int, NodeId, Time) override { return Time::never(); }
    void delivered(int, const Delivery& d) override { arrived.push_back(d.arrived); }
    std::vector<Time> arrived;
  };
  const auto topology = make_topology("torus:4x4,planes=3");
  NetworkHardware hardware;
  hardware.vcs = 2;
  const auto policy = make_policy("dor:up", *topology, 2);
  ASSERT_TRUE(policy);
  std::vector<Time> all;
  for (std::uint32_t card = 0; card < 3; ++card) {
    Once host;
    const auto network = Network::make(*topology, hardware, **policy, host, {});
    ASSERT_TRUE(network);
    (*network)->send(NodeId(card), NodeId(3 * 7 + card), Bytes{5000}, Time::zero());
    ASSERT_TRUE((*network)->run(Time::never()));
    ASSERT_EQ(host.arrived.size(), 1u);
    all.push_back(host.arrived[0]);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

}  // namespace
}  // namespace weft
