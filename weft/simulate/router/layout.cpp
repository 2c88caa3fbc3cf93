// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/layout.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <sys/mman.h>

#include <weft/base/quantity.hpp>

namespace weft::detail {

namespace {

// Rings are whole where all together take little memory; more where they are short, since blocks
// then save less.
constexpr std::size_t whole_slots_max = (32u << 20) / sizeof(Slot);
constexpr std::size_t whole_short_slots_max = (1u << 30) / sizeof(Slot);
constexpr std::uint32_t short_ring_max = 16;   // Slots.
constexpr std::uint32_t usual_block_bits = 1;  // A cache line.
// Blocks of a ring that are used in nearly every 2 MiB of a large network; deeper ones are in few.
constexpr std::size_t usual_depth = 2;
// Slots of first blocks are counted in 32 bits; all together are address space, of which little is
// touched.
constexpr std::uint64_t rings_max = (std::uint64_t{1} << (32 - usual_block_bits)) - 1;
constexpr std::uint64_t slots_max = (std::uint64_t{16} << 40) / sizeof(Slot);

std::uint32_t to_u32(std::size_t n) {
  WEFT_CHECK(n <= UINT32_MAX);
  return static_cast<std::uint32_t>(n);
}

// From about this slot on. Deep places are rarely touched, and huge pages would make the rest of 2
// MiB memory, too. Nothing there has been touched yet.
void use_small_pages(const LazyArray<Slot>& slots, std::size_t first) {
  constexpr std::uintptr_t align = std::uintptr_t{1} << 16;  // A multiple of all page sizes.
  if (first >= slots.size()) return;
  const auto from = reinterpret_cast<std::uintptr_t>(slots.begin() + first);
  const std::uintptr_t begin = (from + align - 1) / align * align;
  const auto end = reinterpret_cast<std::uintptr_t>(slots.end());
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_NOHUGEPAGE);
}

// Builds one state; the steps are called in the order of lay_out().
class Layout {
 public:
  explicit Layout(State& state)
      : state_(state),
        setup_(state.setup),
        machine_(state.setup.machine),
        graph_(state.setup.graph),
        ids_(state.placement.ids),
        vcs_(state.setup.vcs) {}

  void make_wires();
  void make_tables();
  void connect_routers() {
    for (RouterIndex r; r.value < ids_.size(); ++r) connect_router(r);
  }
  void make_mirrors();
  void make_rings(bool may_be_whole);

 private:
  struct Sizes {  // So far.
    std::size_t inputs = 0, outputs = 0, groups = 0, crossbar_ports = 0, cards = 0;
    std::size_t mask_bits_max = 1;
  };
  void place_router(RouterIndex r, Sizes& sizes);
  void connect_router(RouterIndex r);
  void connect_end(RouterIndex r, std::uint32_t end);
  void connect_cards(RouterIndex r);
  void connect(OutputIndex output, InputIndex first_input, RouterIndex to, int wire,
               std::int64_t credit_ps);
  void connect_cable(RouterIndex r, std::uint32_t port, OutputIndex output);
  void connect_to_process(OutputIndex output, const Port& port, int wire, std::int64_t credit_ps);
  void connect_from_process(RouterIndex r, std::uint32_t port, std::uint32_t wire,
                            std::int64_t credit_ps);
  void use_wire(Output& out, int wire) const;
  std::uint8_t add_wire(Rate rate, Duration delay, Duration vc_alloc);
  int packets_per_buffer(Bytes buffer) const;

  State& state_;
  const Setup& setup_;
  const NetworkHardware& machine_;
  const Graph& graph_;
  const Table<RouterId, RouterIndex>& ids_;
  const std::uint32_t vcs_;
  std::vector<std::uint8_t> class_wire_;  // By link class and stage.
  std::uint8_t crossbar_wire_ = 0, inject_wire_ = 0, eject_wire_ = 0;
};

void Layout::make_wires() {
  const Duration through = machine_.switch_alloc + machine_.switch_delay;
  const Rate crossbar = machine_.switch_rate;
  Rate fastest = std::max(machine_.link.rate, Rate::bit_per_s(1));
  for (const std::string& name : graph_.link_classes()) {
    const Cabling& cable = machine_.cabling(name);
    state_.flowing.push_back(machine_.flowing(cable));
    fastest = std::max(fastest, cable.rate);
    if (setup_.buffered) {
      class_wire_.push_back(
          add_wire(crossbar == Rate() ? cable.rate : crossbar, through, machine_.vc_alloc));
      class_wire_.push_back(add_wire(cable.rate, cable.delay, Duration::zero()));
    } else {
      class_wire_.push_back(
          add_wire(slower(cable.rate, crossbar), through + cable.delay, machine_.vc_alloc));
    }
  }
  const Rate inject = machine_.injection_rate(), eject = machine_.ejection_rate();
  inject_wire_ =
      add_wire(inject, machine_.inject_delay + machine_.node_link.delay, Duration::zero());
  if (setup_.buffered) {
    crossbar_wire_ = add_wire(crossbar == Rate() ? eject : crossbar, through, machine_.vc_alloc);
    eject_wire_ = add_wire(eject, machine_.node_link.delay, Duration::zero());
  } else {
    eject_wire_ =
        add_wire(slower(eject, crossbar), through + machine_.node_link.delay, machine_.vc_alloc);
  }
  // Without output buffers a packet crosses at the rate of its cable, so a faster crossbar lets an
  // input port feed several at once.
  if (!setup_.buffered && crossbar != Rate()) {
    state_.crossbar_lanes = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        crossbar.in_bit_per_s() / fastest.in_bit_per_s(), 1, machine_.vcs));
  }
}

std::uint8_t Layout::add_wire(Rate rate, Duration delay, Duration vc_alloc) {
  const auto bit_per_s = static_cast<std::uint64_t>(rate.in_bit_per_s());
  constexpr std::uint64_t byte_ps = 8'000'000'000'000u;
  state_.wires.push_back(
      {.delay = delay.in_ps(),
       .rate = bit_per_s,
       .byte_ps = byte_ps % bit_per_s == 0 ? static_cast<std::int64_t>(byte_ps / bit_per_s) : 0,
       .vc_alloc = vc_alloc.in_ps()});
  WEFT_CHECK(state_.wires.size() < 256);
  return static_cast<std::uint8_t>(state_.wires.size() - 1);
}

int Layout::packets_per_buffer(Bytes buffer) const {
  const auto most = static_cast<int>(std::max<std::int64_t>(1, buffer / machine_.packet_max()));
  return machine_.packets_per_buffer > 0 ? machine_.packets_per_buffer : most;
}

void Layout::place_router(RouterIndex r, Sizes& sizes) {
  const std::size_t ports = graph_.ports(ids_[r]).size();
  const std::size_t nodes = graph_.nodes_at(ids_[r]).size();
  const std::size_t ends = ports + nodes;
  Router& router = state_.routers[r];
  router.wake_at = never_at;
  router.first_output = OutputIndex(to_u32(sizes.outputs));
  router.first_input = InputIndex(to_u32(sizes.inputs));
  router.first_next = to_u32(sizes.groups * actors_per_group);
  router.ports = static_cast<std::uint16_t>(ports);
  router.nodes = static_cast<std::uint16_t>(nodes);
  router.outputs = static_cast<std::uint16_t>(ends * setup_.stages + nodes);
  const bool has_news = setup_.policy.lines() != nullptr;
  router.actors = static_cast<std::uint16_t>(1 + router.outputs + nodes + (has_news ? 1 : 0));
  router.first_port = to_u32(sizes.crossbar_ports);
  router.first_card = CardIndex(to_u32(sizes.cards));
  sizes.cards += nodes;
  sizes.crossbar_ports += (ends + 7) / 8 * 8;  // Cache lines of its own.
  sizes.inputs += (ends * setup_.stages + nodes) * vcs_;
  sizes.outputs += router.outputs;
  sizes.groups += groups_of(router.actors);
  sizes.mask_bits_max = std::max(sizes.mask_bits_max, ends * vcs_);
}

void Layout::make_tables() {
  const std::size_t count = ids_.size();
  state_.routers = LazyArray<Router, RouterIndex>(count);
  for (std::uint32_t r = 0; r < graph_.router_count(); ++r) {
    for (const Port& port : graph_.ports(RouterId(r))) state_.all_up &= port.usable();
  }
  Sizes sizes;
  for (RouterIndex r; r.value < count; ++r) place_router(r, sizes);
  const std::uint32_t words = to_u32((sizes.mask_bits_max + 63) / 64);
  state_.words = words;
  state_.real_inputs = state_.input_count = to_u32(sizes.inputs);
  state_.output_count = to_u32(sizes.outputs);
  state_.router_of_output.resize(sizes.outputs);
  state_.next_at = LazyArray<std::int64_t>(sizes.groups * actors_per_group);
  std::fill(state_.next_at.begin(), state_.next_at.end(), never_at);
  state_.actor_groups = LazyArray<ActorGroup>(sizes.groups);
  std::fill(state_.actor_groups.begin(), state_.actor_groups.end(), ActorGroup{never_at, 0});
  if (words > 1) {
    state_.waiting_words.assign(sizes.outputs * words, 0);
    state_.unrouted_words.assign(count * words, 0);
  }
  if (setup_.timed) {
    state_.route_due.assign(count, never_at);
    state_.head_due = LazyArray<std::int64_t, InputIndex>(sizes.inputs);
  }
  if (setup_.commits) {
    SeekTables& seek = state_.seek;
    seek.heads.assign(count * words, 0);
    seek.untried.assign(count * words, 0);
    seek.shut_until = LazyArray<std::int64_t, OutputIndex>(sizes.outputs);
    std::fill(seek.shut_until.begin(), seek.shut_until.end(), never_at);
    seek.soonest_at.assign(count, never_at);
    seek.soon.assign(count, 0);
    seek.ways = LazyArray<std::uint64_t, InputIndex>(sizes.inputs);
  }
  state_.crossbar_free_at = LazyArray<std::int64_t>(sizes.crossbar_ports * state_.crossbar_lanes);
  state_.cards = LazyArray<Card, CardIndex>(sizes.cards);
  state_.buffer_packets = packets_per_buffer(machine_.buffer_size());
  state_.output_buffer_packets = packets_per_buffer(machine_.output_buffer);
  // Mirrors come on top: at most one per input.
  state_.inputs = LazyArray<Input, InputIndex>(2 * sizes.inputs);
  state_.outputs = LazyArray<Output, OutputIndex>(sizes.outputs);
  state_.accounts = LazyArray<Account, ChannelIndex>(sizes.outputs * vcs_);
  if (setup_.facts.looks) {
    state_.queues.counts_waiting = true;
    state_.queues.waiting = LazyArray<std::int64_t, OutputIndex>(sizes.outputs);
  }
  if (setup_.holds_vcs)
    state_.vc_free_at = LazyArray<std::int64_t, ChannelIndex>(sizes.outputs * vcs_);
  if (setup_.options_max > 1) {
    state_.options = LazyArray<RouteOption>(sizes.inputs * setup_.options_max);
    state_.option_count.resize(sizes.inputs);
  }
}

void Layout::use_wire(Output& out, int wire) const {
  out.wire = static_cast<std::uint8_t>(wire);
  out.delay = static_cast<std::uint32_t>(state_.wires[out.wire].delay);
}

void Layout::connect(OutputIndex output, InputIndex first_input, RouterIndex to, int wire,
                     std::int64_t credit_ps) {
  Output& out = state_.outputs[output];
  out.target = first_input;
  out.router = to;
  out.owner = static_cast<std::uint16_t>(state_.placement.worker_of(to));
  use_wire(out, wire);
  for (Vc vc{0}; vc.value < vcs_; ++vc) {
    Input& in = state_.inputs[first_input + vc];
    in.source = output.value;
    in.credit = static_cast<std::uint32_t>(credit_ps);
  }
}

void Layout::connect_router(RouterIndex r) {
  const Router& router = state_.routers[r];
  for (LocalOutput o; o.value < router.outputs; ++o)
    state_.router_of_output[router.first_output + o] = r;
  for (LocalInput i; i.value < router.ends() * vcs_; ++i)
    state_.inputs[router.first_input + i].port = static_cast<std::uint16_t>(i.value / vcs_);
  for (std::uint32_t end = 0; end < router.ends(); ++end) connect_end(r, end);
  connect_cards(r);
}

// The crossbar output to a cable or node, with its buffer and the second output behind it.
void Layout::connect_end(RouterIndex r, std::uint32_t end) {
  const Router& router = state_.routers[r];
  const auto ports = graph_.ports(ids_[r]);
  const std::uint32_t ends = router.ends();
  const bool node = end >= router.ports;
  OutputIndex output = router.first_output + LocalOutput(end);
  if (setup_.buffered) {
    const InputIndex queue = router.first_input + LocalInput((ends + end) * vcs_);
    state_.outputs[output].kind = to_buffer;
    const int wire =
        node ? crossbar_wire_ : class_wire_[std::size_t{ports[end].link_class} * setup_.stages];
    connect(output, queue, r, wire, setup_.alloc_ps);
    for (Vc vc{0}; vc.value < vcs_; ++vc) state_.inputs[queue + vc].port = no_port;
    output = router.first_output + LocalOutput(ends + end);
  }
  Output& out = state_.outputs[output];
  if (node) {
    out.kind = to_node;
    const InputIndex sink =
        router.first_input + LocalInput((ends * setup_.stages + end - router.ports) * vcs_);
    connect(output, sink, r, eject_wire_,
            machine_.node_link.credit_delay.in_ps() + (setup_.buffered ? 0 : setup_.alloc_ps));
    for (Vc vc{0}; vc.value < vcs_; ++vc) state_.inputs[sink + vc].port = sink_port;
  } else if (ports[end].connected()) {
    out.kind = to_router;
    connect_cable(r, end, output);
  } else {
    out.kind = to_nowhere;
  }
}

void Layout::connect_cards(RouterIndex r) {
  const Router& router = state_.routers[r];
  const auto nodes = graph_.nodes_at(ids_[r]);
  for (std::uint32_t n = 0; n < router.nodes; ++n) {
    const LocalOutput output(router.first_card_output().value + n);
    connect(router.first_output + output,
            router.first_input + LocalInput((router.ports + n) * vcs_), r, inject_wire_,
            setup_.leave_ps + machine_.node_link.credit_delay.in_ps());
    state_.cards[CardIndex(router.first_card.value + n)] = {.first = no_message,
                                                            .last = no_message,
                                                            .end = no_message,
                                                            .packets = 0,
                                                            .node = nodes[n].index};
  }
}

// The cable at a port of router r, and what comes in there if that is from another process.
void Layout::connect_cable(RouterIndex r, std::uint32_t port, OutputIndex output) {
  const Port& here = graph_.ports(ids_[r])[port];
  const auto wire_of = [&](const Port& end) {
    return class_wire_[std::size_t{end.link_class} * setup_.stages + setup_.stages - 1];
  };
  const auto credit_of = [&](const Port& end) {
    const Cabling& cable = machine_.cabling(graph_.link_classes()[end.link_class]);
    return setup_.leave_ps + cable.credit_delay.in_ps() + (setup_.buffered ? 0 : setup_.alloc_ps);
  };
  if (state_.placement.has(here.peer)) {
    const RouterIndex to = state_.placement.find(here.peer);
    connect(output, state_.routers[to].first_input + LocalInput(here.peer_port * vcs_), to,
            wire_of(here), credit_of(here));
    return;
  }
  connect_to_process(output, here, wire_of(here), credit_of(here));
  const Port& there = graph_.ports(here.peer)[here.peer_port];
  if (there.connected()) connect_from_process(r, port, wire_of(there), credit_of(there));
}

// The other end of the cable belongs to another process: a mirror stands for its buffer.
void Layout::connect_to_process(OutputIndex output, const Port& port, int wire,
                                std::int64_t credit_ps) {
  Output& out = state_.outputs[output];
  out.target = InputIndex(state_.input_count);
  out.router = RouterIndex(port.peer.index);
  out.real_target = InputIndex(port.peer_port * vcs_);
  out.owner = static_cast<std::uint16_t>(state_.placement.process_of[port.peer.index]);
  out.remote = true;
  use_wire(out, wire);
  for (Vc vc{0}; vc.value < vcs_; ++vc) {
    Input& mirror = state_.inputs[out.target + vc];
    mirror = {};
    mirror.source = output.value;
    mirror.credit = static_cast<std::uint32_t>(credit_ps);
    mirror.port = port.peer_port;
  }
  state_.input_count += vcs_;
}

// What that end sends to us: `port` is ours, of router r.
void Layout::connect_from_process(RouterIndex r, std::uint32_t port, std::uint32_t wire,
                                  std::int64_t credit_ps) {
  const Port& here = graph_.ports(ids_[r])[port];
  const auto feeder = static_cast<std::uint32_t>(state_.remote_feeders.size());
  state_.remote_feeders.push_back(
      {state_.placement.process_of[here.peer.index], here.peer, here.peer_port, wire});
  const InputIndex first = state_.routers[r].first_input + LocalInput(port * vcs_);
  for (Vc vc{0}; vc.value < vcs_; ++vc) {
    Input& in = state_.inputs[first + vc];
    in.source = feeder;
    in.remote = true;
    in.credit = static_cast<std::uint32_t>(credit_ps);
  }
}

// Mirrors buffers whose feeder belongs to another worker.
void Layout::make_mirrors() {
  for (OutputIndex o; o.value < state_.output_count; ++o) {
    Output& out = state_.outputs[o];
    if (out.kind != to_router || out.remote) continue;
    const Placement& placement = state_.placement;
    if (placement.worker_of(out.router) == placement.worker_of(state_.router_of_output[o]))
      continue;
    out.remote = true;
    out.real_target = out.target;
    out.target = InputIndex(state_.input_count);
    for (Vc vc{0}; vc.value < vcs_; ++vc) {
      Input& real = state_.inputs[out.real_target + vc];
      state_.inputs[out.target + vc] = real;
      real.remote = true;
      real.source = (out.target + vc).value;
    }
    state_.input_count += vcs_;
  }
}

void Layout::make_rings(bool may_be_whole) {
  const std::int32_t packets =
      std::max(state_.buffer_packets, setup_.buffered ? state_.output_buffer_packets : 1);
  state_.rings =
      RingShape::of(static_cast<std::uint32_t>(packets), state_.input_count, may_be_whole);
  state_.slots = LazyArray<Slot>(state_.rings.slots());
  if (!state_.rings.is_whole()) use_small_pages(state_.slots, usual_depth * state_.rings.stride);
  for (OutputIndex o; o.value < state_.output_count; ++o) {
    Output& out = state_.outputs[o];
    const bool inner = out.kind == to_buffer;
    const Bytes buffer = inner ? machine_.output_buffer : machine_.buffer_size();
    out.packets_max =
        static_cast<std::uint16_t>(inner ? state_.output_buffer_packets : state_.buffer_packets);
    for (Vc vc{0}; vc.value < vcs_; ++vc) {
      Account& account = state_.accounts[state_.channel(o, vc)];
      account.room = static_cast<std::int32_t>(buffer.count);
      account.ring = to_u32(state_.rings.first(out.target + vc));
    }
  }
}

}  // namespace

RingShape RingShape::of(std::uint32_t packets, std::size_t rings, bool may_be_whole) {
  const std::uint32_t slots = std::bit_ceil(packets);
  RingShape shape;
  shape.bits = static_cast<std::uint32_t>(std::countr_zero(slots));
  shape.mask = slots - 1;
  const bool small =
      may_be_whole &&
      (rings << shape.bits) <= (slots <= short_ring_max ? whole_short_slots_max : whole_slots_max);
  shape.block_bits = small ? shape.bits : std::min(shape.bits, usual_block_bits);
  shape.block_mask = (1u << shape.block_bits) - 1;
  // An odd number of blocks: those of one ring would compete for the same lines of the cache.
  shape.stride = (rings | 1) << shape.block_bits;
  return shape;
}

Status check_size(const Topology& topology, const NetworkHardware& machine) {
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
  if (rings <= rings_max && slots <= slots_max) return {};
  return Error::input("router.buffer of " + to_text(machine.buffer_size()) + " makes " +
                      std::to_string(slots) + " places for packets in " + std::to_string(rings) +
                      " buffers in a network of this size; at most " + std::to_string(slots_max) +
                      " in " + std::to_string(rings_max) +
                      " can be simulated: make buffers smaller, or set router.packets_per_buffer");
}

Placement place_routers(const Graph& graph, const Parts& parts, const ProcessGroup* peers) {
  Placement placed;
  placed.index.assign(graph.router_count(), Placement::elsewhere);
  placed.partition.first = parts.first;
  std::uint32_t first = 0, last = static_cast<std::uint32_t>(parts.order.size());
  if (peers != nullptr && peers->count() > 1) {
    placed.process_of.resize(graph.router_count());
    for (std::uint32_t p = 0; p + 1 < parts.first.size(); ++p) {
      for (std::uint32_t i = parts.first[p]; i < parts.first[p + 1]; ++i)
        placed.process_of[parts.order[i]] = p;
    }
    const auto self = static_cast<std::size_t>(peers->self());
    first = parts.first[self];
    last = parts.first[self + 1];
    placed.partition.first = {0, last - first};
  }
  placed.ids.resize(last - first);
  for (RouterIndex r; r.value < last - first; ++r) {
    const std::uint32_t id = parts.order[first + r.value];
    placed.ids[r] = RouterId(id);
    placed.index[id] = r;
  }
  return placed;
}

std::unique_ptr<State> lay_out(const Setup& setup, Placement placement, bool whole_rings) {
  auto state = std::make_unique<State>(setup, std::move(placement));
  Layout layout(*state);
  layout.make_wires();
  layout.make_tables();
  layout.connect_routers();
  layout.make_mirrors();
  layout.make_rings(whole_rings);
  return state;
}

Lookahead find_lookahead(const State& state) {
  Lookahead least{never_at, never_at};
  for (OutputIndex o; o.value < state.output_count; ++o) {
    const Output& out = state.outputs[o];
    if (out.kind != to_router) continue;
    least.packets_ps = std::min(least.packets_ps, state.wires[out.wire].delay);
    least.credits_ps = std::min(least.credits_ps, std::int64_t{state.inputs[out.target].credit});
  }
  return least;
}

}  // namespace weft::detail
