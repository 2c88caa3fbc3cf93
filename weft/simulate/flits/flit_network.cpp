// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/flit_network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/parallel/des/time_heap.hpp>
#include <weft/simulate/flits/cards.hpp>
#include <weft/simulate/flits/deadlock.hpp>
#include <weft/simulate/flits/pipeline.hpp>
#include <weft/simulate/flits/state.hpp>

namespace weft {
namespace {

class FlitNetwork final : public Network {
 public:
  FlitNetwork(flits::Setup&& setup, Host& host, std::uint64_t seed)
      : state_(std::move(setup)), host_(host), cards_(state_, host, seed) {}

  void set_alarm(NodeId node, Time at) override {
    if (at.in_ps() < alarms_.at(node.index) && at < Time::never())
      alarms_.set(node.index, at.in_ps());
  }
  void send(const Outgoing& message, Time now) override;
  Result<bool> run(Time until) override;
  std::string find_deadlock() const override { return flits::find_deadlock(state_); }
  bool is_here(RouterId) const override { return true; }
  bool is_here(NodeId) const override { return true; }
  NetworkCounts counts() const override;
  LinkCount link(LinkId link, Time at) const override;
  NodeLinkCount node_link(NodeId node, Time) const override { return cards_.count(node); }
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const override;
  LineNews line(RouterId, int, int) const override { return {}; }
  MemoryUse memory() const override;
  Duration window() const override { return Duration::ps(state_.setup.timing.cycle_ps); }
  Time last_moment(Time time) const override { return time + window(); }

 private:
  static constexpr int quiet_max = 64;

  bool is_stuck(std::int64_t next);
  std::int64_t next_cycle();
  void step(std::int64_t cycle);
  void act_until(std::int64_t now_ps);
  std::int64_t next_act_ps() const { return std::min(alarms_.first_at(), posts_.first_at()); }
  void ring(NodeId node);

  flits::State state_;
  Host& host_;
  flits::Cards cards_;
  TimeHeap alarms_;          // By node.
  TimeHeap posts_;           // Messages that are not sent yet.
  std::int64_t now_ps_ = 0;  // Not only whole cycles: alarms ring between them.
  std::int64_t last_ = -1;   // The last cycle that was simulated.
  int quiet_ = 0;            // Looks in a row at which nothing was on its way.
};

void FlitNetwork::send(const Outgoing& outgoing, Time now) {
  WEFT_CHECK(now.in_ps() >= now_ps_);
  const std::uint32_t message = cards_.make_message(outgoing, now);
  if (now.in_ps() == now_ps_)
    cards_.post(message);
  else
    posts_.set(message, now.in_ps());  // Before the first run.
}

// Heads that wait for each other would ask in every cycle for ever. Stages and slow links take far
// less than the time in which nothing has moved then.
bool FlitNetwork::is_stuck(std::int64_t next) {
  constexpr std::int64_t between_looks = 1024;
  if (quiet_ == quiet_max) return true;
  if (next % between_looks != 0) return false;
  constexpr std::int64_t never = flits::Arrivals<flits::FlitArrival>::never;
  const bool moves = state_.flits.next(next) != never || state_.credits.next(next) != never;
  quiet_ = moves ? 0 : quiet_ + 1;
  return quiet_ == quiet_max;
}

// The next cycle in which something happens; never if there is none.
std::int64_t FlitNetwork::next_cycle() {
  const std::int64_t next = last_ + 1;
  if (!state_.active.empty() && !is_stuck(next)) return next;
  const std::int64_t cycle_ps = state_.setup.timing.cycle_ps;
  const std::int64_t arrival = std::min(state_.flits.next(next), state_.credits.next(next));
  if (!cards_.busy() || quiet_ == quiet_max) return arrival;
  return std::min(arrival, std::max(next, (now_ps_ + cycle_ps - 1) / cycle_ps));
}

void FlitNetwork::ring(NodeId node) {
  const Time again = host_.alarm(0, node, Time::ps(now_ps_));
  WEFT_CHECK(again.in_ps() > now_ps_);
  set_alarm(node, again);
}

// Alarms ring and messages are sent, at one moment.
void FlitNetwork::act_until(std::int64_t now_ps) {
  now_ps_ = now_ps;
  if (next_act_ps() <= now_ps) quiet_ = 0;
  while (posts_.first_at() <= now_ps) cards_.post(posts_.pop());
  while (alarms_.first_at() <= now_ps) ring(NodeId(alarms_.pop()));
}

void FlitNetwork::step(std::int64_t cycle) {
  last_ = state_.now = cycle;
  now_ps_ = state_.now_ps();
  const std::uint32_t router_vcs = state_.router_vcs();
  for (const flits::CreditArrival& credit : state_.credits.due(cycle)) {
    if (credit.output < router_vcs)
      flits::take_credit(state_, credit);
    else
      cards_.take_credit(credit);
  }
  state_.credits.clear(cycle);
  for (const flits::FlitArrival& flit : state_.flits.due(cycle)) {
    if (flit.input < router_vcs)
      flits::take_flit(state_, flit);
    else
      cards_.take_flit(flit);
  }
  state_.flits.clear(cycle);
  act_until(now_ps_);
  cards_.serve();
  state_.active.each([&](std::uint32_t router) { flits::work(state_, router); });
}

Result<bool> FlitNetwork::run(Time until) {
  const std::int64_t cycle_ps = state_.setup.timing.cycle_ps;
  for (;;) {
    if (!state_.failure.empty()) return Error::run(state_.failure);
    const std::int64_t cycle = next_cycle();
    const std::int64_t act_ps = next_act_ps();
    const bool has_cycle = cycle != flits::Arrivals<flits::FlitArrival>::never;
    const std::int64_t cycle_at_ps = has_cycle ? cycle * cycle_ps : TimeHeap::never;
    const std::int64_t next_ps = std::min(cycle_at_ps, act_ps);
    if (next_ps >= until.in_ps()) return next_ps != TimeHeap::never;
    if (act_ps < cycle_at_ps)
      act_until(act_ps);
    else
      step(cycle);
  }
}

NetworkCounts FlitNetwork::counts() const {
  NetworkCounts counts = cards_.counts();
  counts.visits = state_.visits;
  return counts;
}

// What has crossed the switch counts as passed; it enters the link some cycles later.
LinkCount FlitNetwork::link(LinkId link, Time) const {
  const RouterId source = state_.setup.graph.source_of(link);
  const std::uint32_t port = link.index - state_.setup.graph.link(source, 0).index;
  const flits::OutEnd& out = state_.out_ends[state_.routers[source.index].first_end + port];
  LinkCount count;
  count.packets = out.packets;
  count.bytes = out.bytes;
  return count;
}

BufferLevel FlitNetwork::buffer(RouterId router, int port, int vc, Time) const {
  const std::uint32_t end =
      state_.routers[router.index].first_end + static_cast<std::uint32_t>(port);
  const flits::InputVc& in = state_.inputs[end * state_.setup.vcs + static_cast<std::uint32_t>(vc)];
  return {.packets = in.tail - in.head, .bytes = state_.setup.machine.flit * in.flits};
}

MemoryUse FlitNetwork::memory() const {
  const flits::State& s = state_;
  const std::size_t bytes =
      s.routers.size() * sizeof(flits::Router) + s.in_ends.size() * sizeof(flits::InEnd) +
      s.out_ends.size() * sizeof(flits::OutEnd) + s.inputs.size() * sizeof(flits::InputVc) +
      s.outputs.size() * sizeof(flits::OutputVc) + s.rings.size() * sizeof(std::uint32_t);
  return {.bytes_per_router = bytes / std::max<std::size_t>(1, s.routers.size()),
          .bytes_per_packet = sizeof(flits::Packet),
          .bytes_reserved = 0};
}

}  // namespace

Result<std::unique_ptr<Network>> make_flit_network(const Topology& topology,
                                                   const NetworkHardware& machine,
                                                   const Policy& policy, Host& host,
                                                   const NetworkOptions& options,
                                                   const FlitModel& model) {
  if (Status status = check_hardware(machine); !status) return std::move(status).error();
  if (Status status = flits::check_flit_hardware(topology, machine, policy, model); !status)
    return std::move(status).error();
  if (options.peers != nullptr && options.peers->count() > 1)
    return Error::call(
        "the flit model runs in one process; start weft without mpirun, or use --model packet");
  return std::unique_ptr<Network>(std::make_unique<FlitNetwork>(
      flits::make_setup(topology, machine, policy, model), host, options.seed));
}

}  // namespace weft
