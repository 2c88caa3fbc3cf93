// SPDX-License-Identifier: Apache-2.0
// Lays out the state of all routers and connects their parts. Within a router, inputs are numbered:
// cables in, cards, then (with output buffers) the buffers, then the nodes' receiving buffers;
// outputs: cables out and nodes through the crossbar, then (with output buffers) the same again
// behind the buffers, then cards.
#include <algorithm>
#include <bit>
#include <string>

#include "weft/simulate/router/engine.hpp"

#include <weft/base/quantity.hpp>

namespace weft::detail {

namespace {

std::uint32_t to_u32(std::size_t n) {
  WEFT_CHECK(n <= UINT32_MAX);
  return static_cast<std::uint32_t>(n);
}

Rate slower(Rate a, Rate b) {
  if (a == Rate()) return b;
  if (b == Rate()) return a;
  return std::min(a, b);
}

}  // namespace

Engine::Engine(const Topology& topology, const Machine& machine, const Policy& policy, Host& host,
               const Share& share)
    : topology_(topology),
      graph_(topology.graph),
      machine_(machine),
      policy_(policy),
      facts_(policy.facts()),
      host_(host),
      packet_bits_(Rng(share.options.seed).stream("packet")),
      vcs_(static_cast<std::uint32_t>(machine.vcs)),
      all_vcs_(vc_range(0, machine.vcs)),
      committing_((machine.commit || facts_.again) && facts_.choices_max > 1),
      timed_(facts_.looks || committing_),
      held_(!machine.lookahead || committing_),
      buffered_(machine.output_buffer.count > 0),
      ways_(static_cast<std::uint32_t>(facts_.choices_max)),
      route_ps_(machine.route.in_ps()),
      alloc_ps_(machine.vc_alloc.in_ps()),
      leave_ps_(machine.switch_alloc.in_ps()),
      early_ps_(machine.lookahead ? route_ps_ + alloc_ps_ : 0),
      late_ps_(machine.lookahead ? 0 : route_ps_ + alloc_ps_),
      flit_bytes_(machine.flit.count),
      header_bytes_(machine.header.count),
      bulletin_(share.options.bulletin) {
  own(share);
  const int workers = partition_.workers();
  lay_out();
  for (std::uint32_t r = 0; r < ids_.size(); ++r) connect_router(r);
  make_ghosts();
  make_rings();
  make_news();
  find_windows(share.options.window);
  windows_.emplace(*this, partition_, window_, ahead_);
  crews_.resize(static_cast<std::size_t>(workers));
  for (Crew& crew : crews_) {
    for (auto& side : crew.mail) side.resize(static_cast<std::size_t>(workers));
  }
  messages_.emplace(abroad_ != nullptr ? 2 : workers);  // Ours and foreign ones.
  choose_visit();
  start_news();
}

// Of all routers, if this process is alone.
void Engine::own(const Share& share) {
  const auto& [options, parts] = share;
  index_.assign(graph_.router_count(), elsewhere);
  auto first = parts.order.begin(), last = parts.order.end();
  partition_.first = parts.first;
  if (options.peers != nullptr && options.peers->count() > 1) {
    abroad_ = std::make_unique<Abroad>(*options.peers);
    abroad_->owner.resize(graph_.router_count());
    for (std::uint32_t p = 0; p + 1 < parts.first.size(); ++p) {
      for (std::uint32_t i = parts.first[p]; i < parts.first[p + 1]; ++i)
        abroad_->owner[parts.order[i]] = p;
    }
    const auto self = static_cast<std::size_t>(options.peers->self());
    last = first + parts.first[self + 1];
    first += parts.first[self];
    partition_.first = {0, static_cast<std::uint32_t>(last - first)};
  }
  ids_.assign(first, last);
  for (std::uint32_t r = 0; r < ids_.size(); ++r) index_[ids_[r]] = r;
}

void Engine::choose_visit() {
  visit_ = &Engine::visit_any;
  bool plain = !buffered_ && ways_ == 1 && words_ == 1 && crossbar_ways_ == 1 && !facts_.looks &&
               machine_.arbitration != Arbitration::age &&
               std::all_of(routers_.begin(), routers_.end(),
                           [](const Router& router) { return router.actors <= 64; });
  // Packets look different then, so it holds for all processes or for none.
  if (abroad_ != nullptr) plain = abroad_->peers.all_reduce_min(plain ? 1 : 0) != 0;
  if (!plain) return;
  for (Router& router : routers_) router.heads = 0;
  if (all_up_) dor_ = policy_.dimension_order();
  if (dor_ != nullptr && dor_->places().bits() > 32) dor_ = nullptr;
  const auto same_rate = [&](const Wire& wire) { return wire.byte_ps == wires_[0].byte_ps; };
  if (std::all_of(wires_.begin(), wires_.end(), same_rate)) byte_ps_ = wires_[0].byte_ps;
  if (byte_ps_ == 0 || held_) {
    visit_ = &Engine::visit_plain<0, false>;
  } else {
    visit_ = vcs_ == 2 ? &Engine::visit_plain<2, true> : &Engine::visit_plain<0, true>;
  }
}

Status Engine::fits(const Topology& topology, const Machine& machine) {
  const Graph& graph = topology.graph;
  const std::uint64_t stages = machine.output_buffer.count > 0 ? 2 : 1;
  const std::uint64_t ends = std::uint64_t{graph.link_count()} + graph.node_count();
  // Cables that cross between workers have a second ring each, at the most all.
  const std::uint64_t rings =
      (2 * ends * stages + graph.node_count()) * static_cast<std::uint64_t>(machine.vcs);
  const std::int64_t most =
      std::max(machine.buffer_size(), machine.output_buffer) / machine.packet_max();
  const std::int64_t packets = machine.packets_per_buffer > 0 ? machine.packets_per_buffer : most;
  const std::uint64_t slots =
      rings * std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(packets, 1)));
  if (slots <= UINT32_MAX) return {};
  return Error::input(
      "router.buffer of " + to_text(machine.buffer_size()) + " makes " + std::to_string(slots) +
      " places for packets in a network of this size; at most " + std::to_string(UINT32_MAX) +
      " can be simulated: make buffers smaller, or set router.packets_per_buffer");
}

int Engine::packets_per_buffer(Bytes buffer) const {
  const auto most = static_cast<int>(std::max<std::int64_t>(1, buffer / machine_.packet_max()));
  return machine_.packets_per_buffer > 0 ? machine_.packets_per_buffer : most;
}

void Engine::lay_out() {
  make_wires();
  const auto count = static_cast<std::uint32_t>(ids_.size());
  routers_ = LazyArray<Router>(count);
  for (std::uint32_t r = 0; r < graph_.router_count(); ++r) {
    for (const Port& port : graph_.ports(RouterId(r))) all_up_ &= port.usable();
  }
  std::size_t inputs = 0, outputs = 0, actors = 0, in_ports = 0, cards = 0, bits_max = 1;
  for (std::uint32_t r = 0; r < count; ++r) {
    const std::size_t ports = graph_.ports(RouterId(ids_[r])).size();
    const std::size_t nodes = graph_.nodes_at(RouterId(ids_[r])).size();
    const std::size_t ends = ports + nodes;
    Router& router = routers_[r];
    router.wake_at = never_at;
    router.first_output = to_u32(outputs);
    router.first_input = to_u32(inputs);
    router.first_next = to_u32(actors);
    router.ports = static_cast<std::uint16_t>(ports);
    router.nodes = static_cast<std::uint16_t>(nodes);
    router.outputs = static_cast<std::uint16_t>(ends * (buffered_ ? 2 : 1) + nodes);
    router.actors = static_cast<std::uint16_t>(1 + router.outputs + nodes +
                                               (policy_.lines() != nullptr ? 1 : 0));
    router.heads = ~std::uint64_t{0};
    router.first_port = to_u32(in_ports);
    router.first_card = to_u32(cards);
    cards += nodes;
    in_ports += (ends + 7) / 8 * 8;  // Lines of their own.
    inputs += (ends * (buffered_ ? 2 : 1) + nodes) * vcs_;
    outputs += router.outputs;
    actors += router.actors;
    bits_max = std::max(bits_max, ends * vcs_);
  }
  words_ = to_u32((bits_max + 63) / 64);
  input_count_ = to_u32(inputs);
  output_count_ = to_u32(outputs);
  router_of_output_.resize(outputs);
  next_at_ = LazyArray<std::int64_t>(actors);
  std::fill(next_at_.begin(), next_at_.end(), never_at);
  if (words_ > 1) {
    waiting_.assign(outputs * words_, 0);
    fresh_.assign(std::size_t{count} * words_, 0);
  }
  if (committing_) seeking_.assign(std::size_t{count} * words_, 0);
  crossbar_free_at_ = LazyArray<std::int64_t>(in_ports * crossbar_ways_);
  cards_ = LazyArray<Card>(cards);
  buffer_packets_ = packets_per_buffer(machine_.buffer_size());
  output_buffer_packets_ = packets_per_buffer(machine_.output_buffer);
  // Ghosts come on top: at most one per input.
  inputs_ = LazyArray<Input>(2 * inputs);
  outputs_ = LazyArray<Output>(outputs);
  accounts_ = LazyArray<Account>(outputs * vcs_);
  if (held_) vc_free_at_ = LazyArray<std::int64_t>(outputs * vcs_);
  real_inputs_ = to_u32(inputs);
  if (ways_ > 1) {
    way_list_ = LazyArray<Way>(inputs * ways_);
    way_count_.resize(inputs);
  }
}

void Engine::make_wires() {
  const Duration through = machine_.switch_alloc + machine_.switch_delay;
  const Rate crossbar = machine_.switch_rate;
  Rate fastest = std::max(machine_.link.rate, Rate::bit_per_s(1));
  for (const std::string& name : graph_.link_classes()) {
    const Cabling& cable = machine_.cabling(name);
    fastest = std::max(fastest, cable.rate);
    if (buffered_) {
      class_wire_.push_back(
          add_wire(crossbar == Rate() ? cable.rate : crossbar, through, machine_.vc_alloc));
      class_wire_.push_back(add_wire(cable.rate, cable.delay, Duration::zero()));
    } else {
      class_wire_.push_back(
          add_wire(slower(cable.rate, crossbar), through + cable.delay, machine_.vc_alloc));
    }
  }
  const Rate inject = slower(machine_.inject_rate, machine_.node_link.rate);
  const Rate eject = slower(machine_.eject_rate, machine_.node_link.rate);
  inject_wire_ =
      add_wire(inject, machine_.inject_delay + machine_.node_link.delay, Duration::zero());
  if (buffered_) {
    crossbar_wire_ = add_wire(crossbar == Rate() ? eject : crossbar, through, machine_.vc_alloc);
    eject_wire_ = add_wire(eject, machine_.node_link.delay, Duration::zero());
  } else {
    eject_wire_ =
        add_wire(slower(eject, crossbar), through + machine_.node_link.delay, machine_.vc_alloc);
  }
  // Without output buffers a packet crosses at the rate of its cable, so a faster crossbar lets an
  // input port feed several at once.
  if (!buffered_ && crossbar != Rate()) {
    crossbar_ways_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        crossbar.in_bit_per_s() / fastest.in_bit_per_s(), 1, machine_.vcs));
  }
}

std::uint8_t Engine::add_wire(Rate rate, Duration delay, Duration vc_alloc) {
  const auto bit_per_s = static_cast<std::uint64_t>(rate.in_bit_per_s());
  constexpr std::uint64_t byte_ps = 8'000'000'000'000u;
  wires_.push_back(
      {.delay = delay.in_ps(),
       .rate = bit_per_s,
       .byte_ps = byte_ps % bit_per_s == 0 ? static_cast<std::int64_t>(byte_ps / bit_per_s) : 0,
       .vc_alloc = vc_alloc.in_ps()});
  WEFT_CHECK(wires_.size() < 256);
  return static_cast<std::uint8_t>(wires_.size() - 1);
}

void Engine::connect(std::uint32_t output, std::uint32_t first_input, std::uint32_t to, int wire,
                     std::uint32_t credit_ps) {
  Output& out = outputs_[output];
  out.target = first_input;
  out.router = to;
  out.worker = static_cast<std::uint16_t>(worker_of(to));
  out.wire = static_cast<std::uint8_t>(wire);
  out.delay = static_cast<std::uint32_t>(wires_[out.wire].delay);
  for (std::uint32_t v = 0; v < vcs_; ++v) {
    inputs_[first_input + v].feeder = output;
    inputs_[first_input + v].credit = credit_ps;
  }
}

void Engine::connect_router(std::uint32_t r) {
  const Router& router = routers_[r];
  const auto ports = graph_.ports(RouterId(ids_[r]));
  const auto nodes = graph_.nodes_at(RouterId(ids_[r]));
  const std::uint32_t ends = std::uint32_t{router.ports} + router.nodes;
  const std::uint32_t sinks = router.first_input + ends * (buffered_ ? 2 : 1) * vcs_;
  const auto leave = static_cast<std::uint32_t>(leave_ps_);
  const auto alloc = static_cast<std::uint32_t>(alloc_ps_);
  std::fill_n(router_of_output_.begin() + router.first_output, router.outputs, r);
  for (std::uint32_t i = 0; i < ends * vcs_; ++i) {
    inputs_[router.first_input + i].port = static_cast<std::uint16_t>(i / vcs_);
  }
  for (std::uint32_t e = 0; e < ends; ++e) {
    const bool node = e >= router.ports;
    std::uint32_t output = router.first_output + e;
    std::size_t first_wire = 0;
    if (!node) first_wire = std::size_t{ports[e].link_class} * (buffered_ ? 2 : 1);
    if (buffered_) {
      const std::uint32_t queue = router.first_input + (ends + e) * vcs_;
      outputs_[output].kind = to_buffer;
      connect(output, queue, r, node ? crossbar_wire_ : class_wire_[first_wire], alloc);
      for (std::uint32_t v = 0; v < vcs_; ++v) inputs_[queue + v].port = 0xffff;
      output += ends;
      ++first_wire;
    }
    outputs_[output].kind = node ? to_node : ports[e].connected() ? to_router : to_nowhere;
    if (node) {
      const auto back = static_cast<std::uint32_t>(machine_.node_link.credit_delay.in_ps());
      const std::uint32_t sink = sinks + (e - router.ports) * vcs_;
      connect(output, sink, r, eject_wire_, back + (buffered_ ? 0 : alloc));
      for (std::uint32_t v = 0; v < vcs_; ++v) inputs_[sink + v].port = sink_port;
    } else if (ports[e].connected()) {
      connect_cable(r, e, output);
    }
  }
  for (std::uint32_t n = 0; n < router.nodes; ++n) {
    const std::uint32_t output = router.first_output + ends * (buffered_ ? 2 : 1) + n;
    const auto back = static_cast<std::uint32_t>(machine_.node_link.credit_delay.in_ps());
    connect(output, router.first_input + (router.ports + n) * vcs_, r, inject_wire_, leave + back);
    cards_[router.first_card + n] = {
        .first = no_message, .last = no_message, .packets = 0, .node = nodes[n].index};
  }
}

// The cable at a port of router r, and what comes in there if that is another process's.
void Engine::connect_cable(std::uint32_t r, std::uint32_t port, std::uint32_t output) {
  const Port& here = graph_.ports(RouterId(ids_[r]))[port];
  const auto wire_of = [&](const Port& end) {
    return class_wire_[std::size_t{end.link_class} * (buffered_ ? 2 : 1) + (buffered_ ? 1 : 0)];
  };
  const auto credit_of = [&](const Port& end) {
    const Cabling& cable = machine_.cabling(graph_.link_classes()[end.link_class]);
    return static_cast<std::uint32_t>(leave_ps_ + cable.credit_delay.in_ps() +
                                      (buffered_ ? 0 : alloc_ps_));
  };
  if (is_here(here.peer)) {
    const std::uint32_t to = index_[here.peer.index];
    connect(output, routers_[to].first_input + here.peer_port * vcs_, to, wire_of(here),
            credit_of(here));
    return;
  }
  connect_abroad(output, here, wire_of(here), credit_of(here));
  const Port& there = graph_.ports(here.peer)[here.peer_port];
  if (there.connected()) connect_from_abroad(r, port, wire_of(there), credit_of(there));
}

void Engine::make_ghosts() {
  for (std::uint32_t o = 0; o < output_count_; ++o) {
    Output& out = outputs_[o];
    if (out.kind != to_router || out.remote) continue;
    if (worker_of(out.router) == worker_of(router_of_output_[o])) continue;
    out.remote = true;
    out.mail = out.target;
    out.target = input_count_;
    for (std::uint32_t v = 0; v < vcs_; ++v, ++input_count_) {
      Input& ghost = inputs_[input_count_];
      ghost = inputs_[out.mail + v];
      inputs_[out.mail + v].remote = true;
      inputs_[out.mail + v].feeder = input_count_;
    }
  }
}

void Engine::make_rings() {
  const std::int32_t packets = std::max(buffer_packets_, buffered_ ? output_buffer_packets_ : 1);
  const std::uint32_t size = std::bit_ceil(static_cast<std::uint32_t>(packets));
  ring_bits_ = static_cast<std::uint32_t>(std::countr_zero(size));
  ring_mask_ = size - 1;
  slot_count_ = std::uint64_t{input_count_} << ring_bits_;
  slots_ = LazyArray<Slot>(to_u32(slot_count_));
  for (std::uint32_t o = 0; o < output_count_; ++o) {
    const Bytes buffer =
        outputs_[o].kind == to_buffer ? machine_.output_buffer : machine_.buffer_size();
    outputs_[o].packets_max = static_cast<std::uint16_t>(
        outputs_[o].kind == to_buffer ? output_buffer_packets_ : buffer_packets_);
    for (std::uint32_t v = 0; v < vcs_; ++v) {
      Account& account = accounts_[std::size_t{o} * vcs_ + v];
      account.room = static_cast<std::int32_t>(buffer.count);
      account.ring = (outputs_[o].target + v) << ring_bits_;
    }
  }
}

// Credits come back sooner than packets arrive, but matter only where space is scarce.
void Engine::find_windows(Duration asked) {
  std::int64_t packets = never_at, credits = never_at;
  for (std::uint32_t o = 0; o < output_count_; ++o) {
    const Output& out = outputs_[o];
    if (out.kind != to_router) continue;
    packets = std::min(packets, wires_[out.wire].delay);
    credits = std::min(credits, static_cast<std::int64_t>(inputs_[out.target].credit));
  }
  // News is as urgent as credits.
  if (news_ != nullptr) {
    for (const News::Port& port : news_->cables) {
      if (port.audience != News::nobody) credits = std::min<std::int64_t>(credits, port.delay);
    }
  }
  if (abroad_ != nullptr) {
    packets = abroad_->peers.all_reduce_min(packets);
    credits = abroad_->peers.all_reduce_min(credits);
  }
  // A single router: nothing leaves it, any window will do.
  if (packets == never_at) packets = credits = Duration::us(1).in_ps();
  const std::int64_t exact = std::min(packets, credits);
  window_ = asked > Duration::zero() ? std::min(asked, Duration::ps(exact)) : Duration::ps(exact);
  ahead_ = asked > Duration::zero() ? window_ : Duration::ps(packets);
}

}  // namespace weft::detail
