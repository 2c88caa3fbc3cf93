// SPDX-License-Identifier: Apache-2.0
#include "weft/study/step/senders.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <weft/base/check.hpp>

namespace weft {
namespace {

constexpr std::uint32_t no_pair = std::numeric_limits<std::uint32_t>::max();

// Parts of at most `size` that n messages of altogether `bytes` make. Their sizes differ by one
// byte at most; one of no bytes is a part too.
std::uint64_t parts_of(std::uint64_t bytes, std::uint64_t n, std::uint64_t size) {
  const std::uint64_t least = bytes / n, longer = bytes % n;
  const auto parts = [&](std::uint64_t of) { return of == 0 ? 1 : (of - 1) / size + 1; };
  return (n - longer) * parts(least) + longer * parts(least + 1);
}

std::uint64_t part_of(std::uint64_t whole, std::uint64_t shrink) {
  return whole / shrink + (whole % shrink != 0 ? 1 : 0);
}

}  // namespace

Senders::Senders(const TrafficMatrix& traffic, std::span<const std::uint32_t> node_of_rank,
                 std::uint32_t nodes, const SendPlan& plan)
    : traffic_(traffic),
      map_(node_of_rank),
      plan_(plan),
      piece_(plan.order == SendOrder::queue
                 ? std::numeric_limits<std::uint64_t>::max()
                 : static_cast<std::uint64_t>(plan.mtu.count) * plan.burst),
      unsent_(traffic.flows().size()),
      awaited_(traffic.flows().size()),
      then_(traffic.flows().size(), no_pair),
      tallies_(static_cast<std::size_t>(plan.workers)) {
  for (std::size_t pair = 0; pair < unsent_.size(); ++pair) prepare(pair);
  queue_up(nodes);
}

void Senders::prepare(std::size_t pair) {
  const Flow& flow = traffic_.flows()[pair];
  if (!crosses(flow)) return;
  Unsent& unsent = unsent_[pair];
  unsent.bytes = part_of(flow.bytes, plan_.shrink);
  unsent.messages = part_of(std::max<std::uint64_t>(flow.messages, 1), plan_.shrink);
  awaited_[pair].pieces = parts_of(unsent.bytes, unsent.messages, piece_);
  packets_ += parts_of(unsent.bytes, unsent.messages, static_cast<std::uint64_t>(plan_.mtu.count));
  ++pairs_;
}

void Senders::queue_up(std::uint32_t nodes) {
  nodes_.resize(nodes);
  const std::span<const Flow> flows = traffic_.flows();
  for (const Flow& flow : flows)
    if (crosses(flow)) ++nodes_[map_[flow.from]].count;
  std::uint32_t first = 0;
  for (Node& node : nodes_) {
    node.first = first;
    first += node.count;
  }
  turns_.resize(first);
  for (std::uint32_t pair = 0; pair < flows.size(); ++pair) {
    if (!crosses(flows[pair])) continue;
    Node& node = nodes_[map_[flows[pair].from]];
    turns_[node.first + node.kept++] = pair;
  }
  for (Node& node : nodes_) {
    node.kept = 0;
    sort_by_distance(node);
    if (plan_.order == SendOrder::round_robin) chain_destinations(node);
  }
}

// Pairs are numbered by sender: the lower rank stays first.
void Senders::sort_by_distance(const Node& node) {
  const std::span<const Flow> flows = traffic_.flows();
  const auto distance = [&](std::uint32_t pair) {
    const Flow& flow = flows[pair];
    return flow.to >= flow.from ? flow.to - flow.from : traffic_.ranks() - flow.from + flow.to;
  };
  std::stable_sort(turns_.begin() + node.first, turns_.begin() + node.first + node.count,
                   [&](std::uint32_t a, std::uint32_t b) { return distance(a) < distance(b); });
}

// A destination has one place in the round, however many ranks live there.
void Senders::chain_destinations(Node& node) {
  std::unordered_map<std::uint32_t, std::uint32_t> last;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const std::uint32_t pair = turns_[node.first + i];
    const auto [before, is_new] = last.try_emplace(map_[traffic_.flows()[pair].to], pair);
    if (is_new)
      turns_[node.first + kept++] = pair;
    else
      then_[std::exchange(before->second, pair)] = pair;
  }
  node.count = kept;
}

void Senders::attach(Network& network) {
  network_ = &network;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) refill(NodeId(n), Time::zero());
}

// The next piece of a pair. Messages are as equal as whole bytes can be.
Bytes Senders::cut(Unsent& unsent) const {
  if (unsent.in_message == 0) unsent.in_message = unsent.bytes / unsent.messages;
  const std::uint64_t size = std::min(unsent.in_message, piece_);
  unsent.in_message -= size;
  unsent.bytes -= size;
  if (unsent.in_message == 0) --unsent.messages;
  return Bytes{static_cast<std::int64_t>(size)};
}

void Senders::send_one(NodeId from, Node& node, Time now) {
  const std::uint32_t pair = turns_[node.first + node.next];
  Unsent& unsent = unsent_[pair];
  network_->send(from, NodeId(map_[traffic_.flows()[pair].to]), cut(unsent), now, pair);
  ++node.stock;
  const bool more = unsent.messages > 0;
  if (more && plan_.order == SendOrder::queue) return;
  if (const std::uint32_t again = more ? pair : then_[pair]; again != no_pair)
    turns_[node.first + node.kept++] = again;
  if (++node.next < node.count) return;
  node.count = node.kept;
  node.next = node.kept = 0;
}

void Senders::refill(NodeId from, Time now) {
  Node& node = nodes_[from.index];
  while (node.stock < plan_.stock && node.count > 0) send_one(from, node, now);
}

Time Senders::alarm(int /*worker*/, NodeId node, Time now) {
  refill(node, now);
  return Time::never();
}

void Senders::departed(int /*worker*/, const Departure& d) {
  Node& node = nodes_[d.from.index];
  // When half of its stock is gone, so the card never waits, and is seldom asked.
  if (--node.stock == plan_.stock / 2 && node.count > 0) network_->set_alarm(d.from, d.at);
}

void Senders::delivered(int worker, const Delivery& d) {
  Awaited& awaited = awaited_[d.cookie];
  Tally& tally = tallies_[static_cast<std::size_t>(worker)];
  WEFT_CHECK(awaited.pieces > 0);
  awaited.last = std::max(awaited.last, d.arrived);
  tally.carried += d.size;
  if (--awaited.pieces == 0) ++tally.pairs;
}

bool Senders::all_arrived() const {
  std::uint64_t arrived = 0;
  for (const Tally& tally : tallies_) arrived += tally.pairs;
  return arrived == pairs_;
}

void Senders::report(StepResult& result) const {
  result.pairs = pairs_;
  for (const Tally& tally : tallies_) {
    result.pairs_arrived += tally.pairs;
    result.carried += tally.carried;
  }
  detail::Wide sum = 0;
  for (std::size_t pair = 0; pair < awaited_.size(); ++pair) {
    const Flow& flow = traffic_.flows()[pair];
    if (!crosses(flow)) continue;
    const Duration at = awaited_[pair].last.since_start();
    if (awaited_[pair].pieces == 0) sum += at.in_ps();
    if (at <= result.time) continue;
    result.time = at;
    result.last_from = flow.from;
    result.last_to = flow.to;
  }
  if (result.pairs_arrived > 0)
    result.mean_arrival = Duration::ps(static_cast<std::int64_t>(sum / result.pairs_arrived));
}

}  // namespace weft
