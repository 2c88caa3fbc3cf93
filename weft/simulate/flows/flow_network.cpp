// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/flow_network.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/base/rng.hpp>
#include <weft/network/route/path.hpp>
#include <weft/parallel/des/time_queue.hpp>
#include <weft/simulate/flows/messages_in_flight.hpp>

namespace weft {
namespace {

constexpr int left_bits = 16;  // FlowOnItsWay::left counts parts of a byte.

Speed speed_of(Rate rate) {
  const auto bit = static_cast<detail::Wide>(rate.in_bit_per_s());
  return static_cast<Speed>((bit << speed_bits) / 8'000'000'000'000);
}

// How long a flow takes, `left` in parts of a byte. Most fit a division of 64 bits, which is much
// faster.
std::int64_t time_ps(std::int64_t left, Speed speed) {
  constexpr int shift = speed_bits - left_bits;
  if (left < std::int64_t{1} << (62 - shift)) return ((left << shift) + speed - 1) / speed;
  return static_cast<std::int64_t>(((static_cast<detail::Wide>(left) << shift) + speed - 1) /
                                   speed);
}

// The links of the flow model: those between routers, by LinkId, then from each node, then to each.
class FlowLinks {
 public:
  FlowLinks(const Graph& graph, const NetworkHardware& machine);

  std::uint32_t from(NodeId node) const { return cables_ + node.index; }
  std::uint32_t to(NodeId node) const { return cables_ + nodes_ + node.index; }
  std::uint32_t count() const { return cables_ + 2 * nodes_; }
  Rate rate(std::uint32_t link) const { return kind(link).rate; }
  // From the moment that the head of a message wins the link to its arrival at the next router.
  std::int64_t passing_ps(std::uint32_t link) const { return kind(link).passing_ps; }
  // What one VC of it carries.
  Speed vc_speed(std::uint32_t link) const { return kind(link).vc_speed; }
  // Every message asks several times on each link, and long divisions take long.
  std::int64_t serialise_ps(std::int64_t bytes, std::uint32_t link) const {
    const Kind& one = kind(link);
    bytes = std::max<std::int64_t>(bytes, 0);
    return one.byte_ps > 0 ? bytes * one.byte_ps : serialise(Bytes{bytes}, one.rate).in_ps();
  }
  std::vector<Speed> speeds() const;

 private:
  struct Kind {
    Kind() = default;
    Kind(Rate whole, Rate of_vc, Duration passing);
    Rate rate;
    Speed vc_speed = 0;
    std::int64_t passing_ps = 0;
    std::int64_t byte_ps = 0;  // If it is a whole number.
  };
  const Kind& kind(std::uint32_t link) const {
    if (link < cables_)
      return cable_kinds_[cable_kinds_.size() == 1 ? 0 : graph_.port(LinkId(link)).link_class];
    return link < cables_ + nodes_ ? from_kind_ : to_kind_;
  }

  const Graph& graph_;
  const std::uint32_t cables_, nodes_;
  std::vector<Kind> cable_kinds_;  // By class of cables.
  Kind from_kind_, to_kind_;
};

FlowLinks::Kind::Kind(Rate whole, Rate of_vc, Duration passing)
    : rate(whole), vc_speed(speed_of(of_vc)), passing_ps(passing.in_ps()) {
  if (rate == Rate()) return;
  const std::int64_t one = serialise(Bytes{1}, rate).in_ps();
  if (one * rate.in_bit_per_s() == 8'000'000'000'000) byte_ps = one;
}

FlowLinks::FlowLinks(const Graph& graph, const NetworkHardware& machine)
    : graph_(graph), cables_(graph.link_count()), nodes_(graph.node_count()) {
  const Duration through = machine.switch_alloc + machine.switch_delay;
  const Duration behind = machine.node_link.delay;
  const auto vc_rate = [&](const std::string& table, Rate rate) {
    for (const CreditLoop& loop : machine.credit_loops())
      if (loop.table == table) rate = std::min(rate, machine.vc_rate(loop));
    return rate;
  };
  const bool buffered = machine.output_buffer.count > 0;
  const Rate crossbar = buffered ? Rate() : machine.switch_rate;
  for (const std::string& name : graph.link_classes()) {
    const Cabling& cable = machine.cabling(name);
    const Rate rate = slower(cable.rate, crossbar);
    const bool own = machine.link_class.count(name) > 0;
    cable_kinds_.push_back(
        {rate, vc_rate(own ? "link." + name : "link", rate), through + cable.delay});
  }
  const Rate inject = machine.injection_rate(), eject = slower(machine.ejection_rate(), crossbar);
  from_kind_ = {inject, vc_rate("nic", inject), machine.inject_delay + behind};
  to_kind_ = {eject, vc_rate("nic", eject), through + behind};
}

std::vector<Speed> FlowLinks::speeds() const {
  std::vector<Speed> all(count());
  for (std::uint32_t i = 0; i < count(); ++i) all[i] = speed_of(rate(i));
  return all;
}

class FlowNetwork final : public Network, private LinkQueues {
 public:
  FlowNetwork(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
              Host& host, const NetworkOptions& options, const FlowModel& model);

  void set_alarm(NodeId node, Time at) override {
    if (at.in_ps() < alarms_.at(node.index) && at < Time::never())
      alarms_.set(node.index, at.in_ps());
  }
  void send(const Outgoing& message, Time now) override;
  Result<bool> run(Time until) override;
  std::string find_deadlock() const override { return {}; }
  bool is_here(RouterId) const override { return true; }
  bool is_here(NodeId) const override { return true; }
  NetworkCounts counts() const override { return counts_; }
  LinkCount link(LinkId link, Time at) const override { return count(link.index, at); }
  NodeLinkCount node_link(NodeId node, Time at) const override {
    return {.injected = count(links_.from(node), at), .ejected = count(links_.to(node), at)};
  }
  BufferLevel buffer(RouterId, int, int, Time) const override { return {}; }
  LineNews line(RouterId, int, int) const override { return {}; }
  MemoryUse memory() const override;
  Duration window() const override { return Duration::ps(1); }
  Time last_moment(Time time) const override { return time + Duration::ps(1); }

 private:
  struct LinkState {
    std::int64_t free_at = 0;              // For those that pass in one piece.
    std::uint64_t packets = 0, bytes = 0;  // That have passed.
  };

  Bytes queued(LinkId link) const override;
  Bytes most() const override { return queue_max_; }
  LinkCount count(std::uint32_t link, Time at) const;
  void begin(std::uint32_t id);
  std::uint64_t draw_bits(NodeId node);
  bool find_path(const MessageInFlight& message, std::uint64_t bits, Routes::Path& path);
  void begin_piece(std::uint32_t id);
  void begin_flow(std::uint32_t id);
  bool find_uses(const MessageInFlight& message);
  void use_path(const Routes::Path& path, std::uint32_t weight);
  void forget_own();
  Speed most(const MessageInFlight& message, const Routes::Path& path) const;
  std::int64_t idle_ps(const MessageInFlight& message, const Routes::Path& path) const;
  void step_on(std::uint32_t id);
  std::int64_t pass(std::uint32_t link, const MessageInFlight& message, PieceOnItsWay& piece);
  void end_flow(std::uint32_t id);
  void leave_queue(std::uint32_t id, std::int64_t next_at);
  struct Journey {
    std::int64_t entered_at, arrives_at;
    int hops;
  };
  void deliver(std::uint32_t id, const Journey& journey);
  void note_packets(const MessageInFlight& message, std::uint64_t hops);
  void settle();
  void ring(NodeId node);
  void load_ahead(std::uint32_t id);
  void load(const MessageInFlight& message, const PieceOnItsWay& piece) const;
  std::int64_t moved(const FlowOnItsWay& flow, std::int64_t at) const;
  void move_on(FlowOnItsWay& flow);
  // With the headers of its packets.
  std::int64_t wire_bytes(const MessageInFlight& message) const {
    return std::max<std::int64_t>(message.what.size.count + message.packets * machine_.header.count,
                                  1);
  }
  std::int64_t decision_ps() const { return (machine_.route + machine_.vc_alloc).in_ps(); }
  std::int64_t serialise_ps(std::int64_t bytes, std::uint32_t link) const {
    return links_.serialise_ps(bytes, link);
  }

  const Topology& topology_;
  const NetworkHardware machine_;
  Host& host_;
  const FlowModel model_;
  const FlowLinks links_;
  const Bytes queue_max_;  // Before a link, in all VCs.
  const bool one_vc_;
  const bool heads_block_;  // Switches without output buffers do not pass one that waits.
  FairShares shares_;
  Routes routes_;
  const Rng bits_;
  MessagesInFlight messages_;
  PiecesOnTheirWay pieces_;
  std::vector<FlowOnItsWay> flows_;  // By number in shares_.
  SendQueues queues_;
  TimeQueue due_, alarms_;              // By message, by node.
  std::array<std::uint32_t, 4> ahead_;  // Messages that are due next at this moment.
  std::vector<LinkState> states_;       // By link.
  std::vector<std::uint32_t> drawn_;    // Random words, by node.
  // Of the flow that begins: its links, and the longest of its paths.
  std::vector<LinkUse> uses_;
  Routes::Path longest_, path_;
  struct Own {
    std::uint32_t weight = 0, place = 0;  // So far, and the link's place in uses_.
  };
  std::vector<Own> own_;  // By cable.
  NetworkCounts counts_;
  std::int64_t now_ = 0;
  bool changed_ = false;  // Flows have come or gone since settle().
  std::string failure_;
};

FlowNetwork::FlowNetwork(const Topology& topology, const NetworkHardware& machine,
                         const Policy& policy, Host& host, const NetworkOptions& options,
                         const FlowModel& model)
    : topology_(topology),
      machine_(machine),
      host_(host),
      model_(model),
      links_(topology.graph, machine),
      queue_max_(machine.buffer_size() * machine.vcs),
      one_vc_(policy.facts().in_order),
      heads_block_(machine.output_buffer.count == 0),
      shares_(links_.speeds(), static_cast<int>(model.merge_efficiency * 1024 + 0.5)),
      routes_(topology, policy, *this),
      bits_(Rng(options.seed).stream("packet")),
      queues_(machine.order, messages_),
      ahead_{TimeQueue::none, TimeQueue::none, TimeQueue::none, TimeQueue::none},
      states_(links_.count()),
      drawn_(topology.graph.node_count()),
      own_(topology.graph.link_count()) {}

MemoryUse FlowNetwork::memory() const {
  const std::size_t bytes = states_.size() * sizeof(LinkState) + shares_.bytes();
  return {.bytes_per_router = bytes / std::max(1u, topology_.graph.router_count()),
          .bytes_per_packet = 0,
          .bytes_reserved = 0};
}

std::int64_t FlowNetwork::moved(const FlowOnItsWay& flow, std::int64_t at) const {
  const auto since = static_cast<detail::Wide>(flow.speed) * (at - flow.since);
  const auto parts = static_cast<std::int64_t>(since >> (speed_bits - left_bits));
  const std::int64_t left = std::max<std::int64_t>(flow.left - parts, 0);
  return wire_bytes(messages_[flow.message]) - (left >> left_bits);
}

LinkCount FlowNetwork::count(std::uint32_t link, Time at) const {
  LinkCount count;
  count.packets = states_[link].packets;
  count.bytes = states_[link].bytes;
  shares_.each_flow_on(link, [&](std::uint32_t number, std::uint32_t weight) {
    const FlowOnItsWay& flow = flows_[number];
    const MessageInFlight& message = messages_[flow.message];
    const std::int64_t bytes =
        at == Time::never() ? wire_bytes(message) : moved(flow, std::max(at.in_ps(), flow.since));
    count.bytes += static_cast<std::uint64_t>(bytes) * weight / LinkUse::whole;
    count.packets += static_cast<std::uint64_t>(message.packets) * weight / LinkUse::whole;
  });
  return count;
}

// The longer, the more its flows would take if only their cards held them back. Those of this
// moment count before their shares are settled.
Bytes FlowNetwork::queued(LinkId link) const {
  const std::int64_t weight = shares_.weight(link.index) + own_[link.index].weight;
  if (weight == 0) return {};
  const auto wanted = static_cast<detail::Wide>(machine_.injection_rate().in_bit_per_s()) * weight;
  const auto there =
      static_cast<detail::Wide>(links_.rate(link.index).in_bit_per_s()) * LinkUse::whole;
  if (wanted < there) return {};
  const auto over = static_cast<std::int64_t>(queue_max_.count * (wanted - there) / wanted);
  return std::min(machine_.packet_max() + Bytes{over}, queue_max_);
}

void FlowNetwork::send(const Outgoing& outgoing, Time now) {
  WEFT_CHECK(outgoing.size.count >= 0 && now.in_ps() >= now_);
  const std::uint32_t id = messages_.make();
  MessageInFlight& message = messages_[id];
  message.what = outgoing;
  message.packets = std::max<std::int64_t>(
      (outgoing.size.count + machine_.mtu.count - 1) / machine_.mtu.count, 1);
  message.born_at = now.in_ps();
  message.begun = false;
  message.is_piece = wire_bytes(message) <= model_.piece_max.count;
  if (!queues_.post(id)) return;
  if (now.in_ps() == now_)
    begin(id);
  else
    due_.set(id, now.in_ps());  // Before the first run.
}

// It is the first of its queue, and the card is free.
void FlowNetwork::begin(std::uint32_t id) {
  messages_[id].begun = true;
  if (messages_[id].is_piece)
    begin_piece(id);
  else
    begin_flow(id);
}

std::uint64_t FlowNetwork::draw_bits(NodeId node) {
  return bits_.at((std::uint64_t{node.index} << 32) | drawn_[node.index]++);
}

bool FlowNetwork::find_path(const MessageInFlight& message, std::uint64_t bits,
                            Routes::Path& path) {
  const NodeId from = message.what.from, to = message.what.to;
  if (routes_.find(from, to, bits, path)) return true;
  const auto& steps = path.steps;
  const Graph& graph = topology_.graph;
  const RouterId here =
      steps.empty() ? graph.router_of(from) : graph.port(LinkId(steps.back().link)).peer;
  if (failure_.empty()) failure_ = explain_no_way(topology_, here, to);
  return false;
}

void FlowNetwork::note_packets(const MessageInFlight& message, std::uint64_t hops) {
  counts_.packets_sent += static_cast<std::uint64_t>(message.packets);
  counts_.hops += static_cast<std::uint64_t>(message.packets) * hops;
}

// The next of its queue may begin at `next_at`.
void FlowNetwork::leave_queue(std::uint32_t id, std::int64_t next_at) {
  const std::uint32_t next = queues_.finish(id);
  if (next != no_message_in_flight) due_.set(next, next_at);
}

void FlowNetwork::begin_piece(std::uint32_t id) {
  MessageInFlight& message = messages_[id];
  message.record = pieces_.make();
  PieceOnItsWay& piece = pieces_[message.record];
  if (!find_path(message, draw_bits(message.what.from), piece.path)) return;
  note_packets(message, piece.path.steps.size());
  piece.step = 0;
  piece.tail_lag = 0;
  piece.uncertain = false;
  const NodeId node = message.what.from;
  const std::int64_t head_at = pass(links_.from(node), message, piece);
  const std::int64_t gap = message.what.gap.in_ps() * message.packets;
  std::int64_t& free_at = states_[links_.from(node)].free_at;
  const std::int64_t left_at = free_at;
  free_at += gap;
  piece.entered_at = head_at - links_.passing_ps(links_.from(node));
  due_.set(id, head_at + decision_ps());
  leave_queue(id, free_at);
  host_.departed(0, {node, message.what.to, message.what.cookie, Time::ps(left_at), nullptr});
}

// The head of a piece wants to pass a link now. When it is at the other end.
std::int64_t FlowNetwork::pass(std::uint32_t link, const MessageInFlight& message,
                               PieceOnItsWay& piece) {
  LinkState& state = states_[link];
  // Flows that fill the link let a packet pass in turn.
  std::int64_t turn = 0;
  if (shares_.is_full(link)) {
    turn = serialise_ps(machine_.packet_max().count, link) * shares_.weight(link) / LinkUse::whole;
  }
  const std::int64_t turn_at = std::max(now_, state.free_at), begin = turn_at + turn;
  const std::int64_t bytes = wire_bytes(message);
  const bool is_cable = link < links_.from(NodeId(0));
  if (is_cable && heads_block_ && begin - now_ > serialise_ps(bytes, link)) piece.uncertain = true;
  // Others need not wait until it has had its turn: between flows there is room for them, too.
  state.free_at = turn_at + serialise_ps(bytes, link);
  const std::int64_t lag =
      serialise_ps(bytes - machine_.flit.count, link) + turn * (message.packets - 1);
  piece.tail_lag = std::max(piece.tail_lag, lag);
  state.bytes += static_cast<std::uint64_t>(bytes);
  state.packets += static_cast<std::uint64_t>(message.packets);
  ++counts_.visits;
  return begin + links_.passing_ps(link);
}

// The head of a piece has been routed.
void FlowNetwork::step_on(std::uint32_t id) {
  const MessageInFlight& message = messages_[id];
  PieceOnItsWay& piece = pieces_[message.record];
  if (piece.step < piece.path.steps.size()) {
    const std::uint32_t link = piece.path.steps[piece.step++].link;
    due_.set(id, pass(link, message, piece) + decision_ps());
    return;
  }
  const std::int64_t head_at = pass(links_.to(message.what.to), message, piece);
  const auto bytes = static_cast<std::uint64_t>(wire_bytes(message));
  counts_.flow_bytes += bytes;
  if (piece.uncertain) counts_.uncertain_bytes += bytes;
  const Journey journey{piece.entered_at, head_at + piece.tail_lag + machine_.eject_delay.in_ps(),
                        static_cast<int>(piece.path.steps.size())};
  pieces_.free(message.record);
  deliver(id, journey);
}

void FlowNetwork::deliver(std::uint32_t id, const Journey& journey) {
  const MessageInFlight& message = messages_[id];
  counts_.packets_delivered += static_cast<std::uint64_t>(message.packets);
  Delivery d;
  d.from = message.what.from;
  d.to = message.what.to;
  d.size = message.what.size;
  d.born = Time::ps(message.born_at);
  d.entered = Time::ps(journey.entered_at);
  d.arrived = Time::ps(journey.arrives_at);
  d.hops = journey.hops;
  d.cookie = message.what.cookie;
  messages_.free(id);
  host_.delivered(0, d);
}

void FlowNetwork::use_path(const Routes::Path& path, std::uint32_t weight) {
  for (const Routes::Step& step : path.steps) {
    Own& own = own_[step.link];
    if (own.weight == 0) {
      own.place = static_cast<std::uint32_t>(uses_.size());
      uses_.push_back({step.link, weight, step.turns});
    } else {
      LinkUse& use = uses_[own.place];
      use.weight += weight;
      use.turns = use.turns || step.turns;
    }
    own.weight += weight;
  }
}

void FlowNetwork::forget_own() {
  for (const LinkUse& use : uses_) own_[use.link].weight = 0;
}

// Finds the paths of a flow: sets uses_ to their links, and longest_. Returns false if there is no
// path.
bool FlowNetwork::find_uses(const MessageInFlight& message) {
  // Most pairs of a torus have one way: a coin that matters falls differently with all bits
  // flipped, and packets that draw lots hardly go one way four times. Those that look at queues
  // find others there as the message fills its first way.
  constexpr int probes = 4;
  const NodeId from = message.what.from;
  std::uint64_t bits = draw_bits(from);
  uses_.clear();
  if (!find_path(message, bits, longest_)) return false;
  int paths = routes_.paths(message.packets), same = 1;
  if (paths >= probes && routes_.has_one_way(from, message.what.to)) {
    static_cast<void>(draw_bits(from));  // As a search would: later messages draw the same bits.
    paths = 1;
  }
  const auto part = LinkUse::whole / static_cast<std::uint32_t>(paths);
  use_path(longest_, part);
  std::uint64_t steps = longest_.steps.size();
  for (int i = 1; i < paths; ++i) {
    bits = i < probes && i % 2 == 1 ? ~bits : draw_bits(from);
    if (!find_path(message, bits, path_)) return false;
    if (!routes_.looks() && same == i && path_.steps == longest_.steps && ++same == probes) {
      forget_own();
      uses_.clear();
      use_path(longest_, LinkUse::whole);
      steps = longest_.steps.size();
      paths = 1;
      break;
    }
    use_path(path_, part);
    steps += path_.steps.size();
    if (path_.steps.size() >= longest_.steps.size()) std::swap(longest_, path_);
  }
  forget_own();
  if (paths > 1) {
    std::sort(uses_.begin(), uses_.end(),
              [](const LinkUse& a, const LinkUse& b) { return a.link < b.link; });
  }
  note_packets(message, 0);
  counts_.hops +=
      steps * static_cast<std::uint64_t>(message.packets) / static_cast<std::uint64_t>(paths);
  uses_.push_back({links_.from(message.what.from), LinkUse::whole, false});
  uses_.push_back({links_.to(message.what.to), LinkUse::whole, false});
  return true;
}

// What a message alone gets: its card may pause after each packet, and one VC may carry less than
// its link.
Speed FlowNetwork::most(const MessageInFlight& message, const Routes::Path& path) const {
  const std::uint32_t card = links_.from(message.what.from);
  Speed least = no_speed_limit;
  if (message.what.gap > Duration::zero()) {
    const std::int64_t packet = wire_bytes(message) / message.packets;
    const std::int64_t time = serialise_ps(packet, card) + message.what.gap.in_ps();
    least = static_cast<Speed>((static_cast<detail::Wide>(packet) << speed_bits) / time);
  }
  const int vcs = one_vc_ ? 1 : machine_.vcs;
  least = std::min(least, links_.vc_speed(card) * vcs);
  for (const Routes::Step& step : path.steps) {
    least =
        std::min(least, links_.vc_speed(step.link) * std::max(std::min(path.vcs, machine_.vcs), 1));
  }
  return least;
}

// From the moment that the last byte leaves the card.
std::int64_t FlowNetwork::idle_ps(const MessageInFlight& message, const Routes::Path& path) const {
  const std::uint32_t card = links_.from(message.what.from);
  std::int64_t way = links_.passing_ps(card) + decision_ps() +
                     links_.passing_ps(links_.to(message.what.to)) + machine_.eject_delay.in_ps() -
                     serialise_ps(machine_.flit.count, card);
  for (const Routes::Step& step : path.steps) way += decision_ps() + links_.passing_ps(step.link);
  return std::max<std::int64_t>(way, 0);
}

void FlowNetwork::begin_flow(std::uint32_t id) {
  MessageInFlight& message = messages_[id];
  if (!find_uses(message)) return;
  message.record = shares_.add(uses_, most(message, longest_));
  if (message.record >= flows_.size()) flows_.resize(message.record + 1);
  flows_[message.record] = {.message = id,
                            .hops = static_cast<int>(longest_.steps.size()),
                            .left = wire_bytes(message) << left_bits,
                            .since = now_,
                            .way_ps = idle_ps(message, longest_),
                            .entered_at = now_};
  changed_ = true;
}

// The last byte has left the card; it arrives when it has passed the rest of an idle way.
void FlowNetwork::end_flow(std::uint32_t id) {
  const MessageInFlight& message = messages_[id];
  const auto bytes = static_cast<std::uint64_t>(wire_bytes(message));
  shares_.each_link_of(message.record, [&](std::uint32_t link, std::uint32_t weight) {
    states_[link].bytes += bytes * weight / LinkUse::whole;
    states_[link].packets += static_cast<std::uint64_t>(message.packets) * weight / LinkUse::whole;
  });
  FlowOnItsWay& flow = flows_[message.record];
  move_on(flow);
  const Journey journey{flow.entered_at, now_ + flow.way_ps, flow.hops};
  shares_.remove(message.record);
  changed_ = true;
  leave_queue(id, now_ + message.what.gap.in_ps());
  host_.departed(
      0, {message.what.from, message.what.to, message.what.cookie, Time::ps(now_), nullptr});
  deliver(id, journey);
}

// Up to now, at the speed that it has had.
void FlowNetwork::move_on(FlowOnItsWay& flow) {
  const auto done = static_cast<detail::Wide>(flow.speed) * (now_ - flow.since);
  const std::int64_t parts =
      std::min(static_cast<std::int64_t>(done >> (speed_bits - left_bits)), flow.left);
  flow.left -= parts;
  flow.since = now_;
  const auto bytes = static_cast<std::uint64_t>(parts >> left_bits);
  counts_.flow_bytes += bytes;
  if (flow.uncertain) counts_.uncertain_bytes += bytes;
}

// Flows go on at their new speeds.
void FlowNetwork::settle() {
  changed_ = false;
  for (const std::uint32_t number : shares_.settle()) {
    FlowOnItsWay& flow = flows_[number];
    const Speed speed = shares_.speed(number);
    if (speed == flow.speed) continue;
    move_on(flow);
    flow.speed = speed;
    flow.uncertain = heads_block_ && shares_.is_held_by_turning(number);
    due_.set(flow.message, now_ + std::max<std::int64_t>(time_ps(flow.left, speed), 1));
  }
}

void FlowNetwork::ring(NodeId node) {
  if (const std::uint32_t soon = alarms_.soon(); soon != TimeQueue::none)
    host_.expect(NodeId(soon));
  const Time again = host_.alarm(0, node, Time::ps(now_));
  WEFT_CHECK(again.in_ps() > now_);
  set_alarm(node, again);
}

// The link that a piece passes next.
void FlowNetwork::load(const MessageInFlight& message, const PieceOnItsWay& piece) const {
  const auto& steps = piece.path.steps;
  const std::uint32_t link =
      piece.step < steps.size() ? steps[piece.step].link : links_.to(message.what.to);
  __builtin_prefetch(&states_[link]);
  shares_.load(link);
}

// Of a crowd of pieces that are due at one moment each needs memory that the one before it has just
// driven out of the caches: its message leads to its record, that to its way, and that to a link.
// So each of them is loaded in turn, while pieces before it pass.
void FlowNetwork::load_ahead(std::uint32_t id) {
  if (ahead_.front() == id) {
    std::rotate(ahead_.begin(), ahead_.begin() + 1, ahead_.end());
    ahead_.back() = TimeQueue::none;
  } else {
    ahead_.fill(TimeQueue::none);
  }
  for (std::uint32_t last = id; std::uint32_t & next : ahead_) {
    if (next == TimeQueue::none) next = due_.after(last);
    if (next == TimeQueue::none) break;
    last = next;
  }
  if (ahead_.front() == TimeQueue::none) {
    if (const std::uint32_t soon = due_.soon(); soon != TimeQueue::none)
      __builtin_prefetch(&messages_[soon]);
    return;
  }
  if (ahead_[3] != TimeQueue::none) __builtin_prefetch(&messages_[ahead_[3]]);
  for (std::size_t i = 0; i < 3 && ahead_[i] != TimeQueue::none; ++i) {
    const MessageInFlight& message = messages_[ahead_[i]];
    if (!message.begun || !message.is_piece) continue;
    const PieceOnItsWay& piece = pieces_[message.record];
    if (i == 0) {
      load(message, piece);
    } else if (i == 1) {
      __builtin_prefetch(piece.path.steps.data() + piece.step);
    } else {  // It may lie in two lines.
      __builtin_prefetch(&piece);
      __builtin_prefetch(&piece.tail_lag);
    }
  }
}

Result<bool> FlowNetwork::run(Time until) {
  for (;;) {
    const std::int64_t due_at = due_.first_at();
    const std::int64_t next = std::min(due_at, alarms_.first_at());
    if (changed_ && next > now_) {
      settle();
      continue;
    }
    if (!failure_.empty()) return Error::run(failure_);
    if (next >= until.in_ps()) return next != TimeQueue::never;
    if (next > now_) {
      now_ = next;
      due_.go_on_to(now_);
      alarms_.go_on_to(now_);
    }
    if (due_at > now_) {
      ring(NodeId(alarms_.pop()));
      continue;
    }
    const std::uint32_t id = due_.pop();
    load_ahead(id);
    const MessageInFlight& message = messages_[id];
    if (!message.begun)
      begin(id);
    else if (message.is_piece)
      step_on(id);
    else
      end_flow(id);
  }
}

}  // namespace

Result<std::unique_ptr<Network>> make_flow_network(const Topology& topology,
                                                   const NetworkHardware& machine,
                                                   const Policy& policy, Host& host,
                                                   const NetworkOptions& options,
                                                   const FlowModel& model) {
  if (Status status = check_hardware(machine); !status) return std::move(status).error();
  if (options.peers != nullptr && options.peers->count() > 1)
    return Error::call(
        "the flow model runs in one process; start weft without mpirun, or use --model packet");
  return std::unique_ptr<Network>(
      std::make_unique<FlowNetwork>(topology, machine, policy, host, options, model));
}

}  // namespace weft
