// SPDX-License-Identifier: Apache-2.0
// A card's queues against the obvious model: a list of messages per destination.
#include "weft/simulate/router/card_queues.hpp"

#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::detail {
namespace {

struct Rig {
  explicit Rig(SendOrder how) : order(how), pools(1), queues(pools, how) {}

  std::uint32_t post(std::uint32_t to, int packets) {
    const std::uint32_t id = pools.make(0);
    pools[id] = {};
    pools[id].unsent = packets;
    pools[id].from = 7;
    pools[id].to = to;
    pools[id].next = no_message;
    queues.post(card, id);
    return id;
  }
  // The message that a packet is cut from.
  std::uint32_t send() {
    const std::uint32_t id = card.first;
    if (--pools[id].unsent > 0)
      queues.pass_turn(card);
    else
      queues.finish(card);
    return id;
  }

  SendOrder order;
  MessagePools pools;
  CardQueues queues;
  Card card = {.first = no_message, .last = no_message, .end = no_message, .packets = 0, .node = 7};
};

std::vector<std::uint32_t> drain(Rig& rig) {
  std::vector<std::uint32_t> sent;
  while (rig.card.first != no_message) sent.push_back(rig.send());
  return sent;
}

TEST(CardQueues, OneQueueKeepsTheOrderOfMessages) {
  Rig rig(SendOrder::queue);
  const auto a = rig.post(1, 2), b = rig.post(2, 1), c = rig.post(1, 2);
  EXPECT_EQ(drain(rig), (std::vector{a, a, b, c, c}));
}

TEST(CardQueues, DestinationsTakeTurns) {
  Rig rig(SendOrder::round_robin);
  const auto a = rig.post(1, 3), b = rig.post(2, 1), c = rig.post(1, 1), d = rig.post(3, 2);
  // c goes to the same place as a, and waits for it.
  EXPECT_EQ(drain(rig), (std::vector{a, b, d, a, d, a, c}));
}

TEST(CardQueues, ANewDestinationWaitsForAllOthers) {
  Rig rig(SendOrder::round_robin);
  const auto a = rig.post(1, 3), b = rig.post(2, 3);
  EXPECT_EQ(rig.send(), a);
  const auto c = rig.post(3, 1);
  EXPECT_EQ(drain(rig), (std::vector{b, a, c, b, a, b}));
}

// A round: the destinations in the order of their turns, with their messages.
class Model {
 public:
  explicit Model(SendOrder order) : order_(order) {}
  void post(std::uint32_t id, std::uint32_t to, int packets) {
    const std::uint32_t queue = order_ == SendOrder::queue ? 0 : to;
    for (auto& [destination, messages] : round_) {
      if (destination != queue) continue;
      messages.push_back({id, packets});
      return;
    }
    round_.push_back({queue, {{id, packets}}});
  }
  bool empty() const { return round_.empty(); }
  std::uint32_t send() {
    auto [queue, messages] = std::move(round_.front());
    round_.pop_front();
    auto& [id, packets] = messages.front();
    const std::uint32_t sent = id;
    if (--packets == 0) messages.pop_front();
    if (!messages.empty()) round_.push_back({queue, std::move(messages)});
    return sent;
  }

 private:
  using Messages = std::deque<std::pair<std::uint32_t, int>>;
  SendOrder order_;
  std::deque<std::pair<std::uint32_t, Messages>> round_;
};

TEST(CardQueues, DoAsTheModel) {
  for (const SendOrder order : {SendOrder::queue, SendOrder::round_robin}) {
    Rng rng(test_seed(3));
    Rig rig(order);
    Model model(order);
    for (int step = 0; step < 20'000; ++step) {
      // Phases of few and of many messages.
      const std::uint64_t posts = (step / 500) % 2 == 0 ? 2 : 5;
      if (rng.below(8) < posts) {
        const auto to = static_cast<std::uint32_t>(rng.below(6));
        const int packets = 1 + static_cast<int>(rng.below(4));
        model.post(rig.post(to, packets), to, packets);
      } else if (!model.empty()) {
        ASSERT_EQ(rig.send(), model.send()) << to_text(order) << ", step " << step;
      }
      ASSERT_EQ(rig.card.first == no_message, model.empty());
    }
  }
}

}  // namespace
}  // namespace weft::detail
