// SPDX-License-Identifier: Apache-2.0
// The nodes of a step. Each hands its card a few pieces of messages at a time and notes what
// arrives, so that memory grows with pairs and nodes, not with packets. All is posted at time zero,
// hence the order of the pieces is fixed from the start: how many the card has in stock changes
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/study/step/step.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

struct SendPlan {
  SendOrder order = SendOrder::queue;
  std::uint32_t burst = 1;
  std::uint64_t shrink = 1;
  Bytes mtu;
  int workers = 1;
  int stock = 16;  // Pieces that a card has at once.
};

class Senders final : public Host {
 public:
  // REQUIRES: every rank of the traffic has a node. The traffic and the map outlive this.
  Senders(const TrafficMatrix& traffic, std::span<const std::uint32_t> node_of_rank,
          std::uint32_t nodes, const SendPlan& plan);

  // REQUIRES: called once, before the first run.
  void attach(Network& network);

  Time alarm(int worker, NodeId node, Time now) override;
  void delivered(int worker, const Delivery& d) override;
  void departed(int worker, const Departure& d) override;

  // Between runs.
  bool all_arrived() const;
  std::uint64_t packets() const { return packets_; }  // That there are to send.
  // What the step's result says of messages; the rest of it stays as it is.
  void report(StepResult& result) const;

 private:
  // One per pair of the traffic; what stays on its node has no pieces.
  struct Unsent {
    std::uint64_t bytes = 0, messages = 0;
    std::uint64_t in_message = 0;  // Left of the message that is being cut; 0 between messages.
  };
  struct Awaited {
    std::uint64_t pieces = 0;
    Time last;
  };
  // The pairs whose turn it is, one for each destination that a node has something to send to. A
  // prefix is left after each round: those before `kept` are in the next one, those from `next` on
  // have their turn in this one.
  struct Node {
    std::uint32_t first = 0, count = 0, next = 0, kept = 0;
    int stock = 0;  // Pieces that the card has.
  };
  struct alignas(128) Tally {
    std::uint64_t pairs = 0;
    Bytes carried;
  };

  bool crosses(const Flow& flow) const { return map_[flow.from] != map_[flow.to]; }
  void prepare(std::size_t pair);
  void queue_up(std::uint32_t nodes);
  void sort_by_distance(const Node& node);
  void chain_destinations(Node& node);
  Bytes cut(Unsent& unsent) const;
  void send_one(NodeId from, Node& node, Time now);
  void refill(NodeId from, Time now);

  const TrafficMatrix& traffic_;
  const std::span<const std::uint32_t> map_;
  const SendPlan plan_;
  const std::uint64_t piece_;
  std::uint64_t packets_ = 0, pairs_ = 0;
  std::vector<Unsent> unsent_;    // Touched by the worker of the sender,
  std::vector<Awaited> awaited_;  // by that of the receiver.
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> turns_;  // Pairs, node by node.
  std::vector<std::uint32_t> then_;   // By pair: the next one between the same two nodes, or none.
  std::vector<Tally> tallies_;
  Network* network_ = nullptr;
};

}  // namespace weft
