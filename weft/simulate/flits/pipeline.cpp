// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/pipeline.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <weft/base/check.hpp>
#include <weft/network/route/path.hpp>
#include <weft/simulate/flits/flit_view.hpp>
#include <weft/simulate/flits/news.hpp>

namespace weft::flits {
namespace {

// Of an end.
std::uint64_t bit(std::uint32_t n) {
  return std::uint64_t{1} << (n % word_ends);
}
VcMask vc_bit(std::uint32_t vc) {
  return VcMask{1} << vc;
}
std::uint32_t first_of(std::uint64_t bits) {
  return static_cast<std::uint32_t>(std::countr_zero(bits));
}

// plain: the switch is as fast as the links, which are right behind it, and no router has more than
// 64 ends. Most machines; the compiler makes a version for them that asks nothing more.

// Visits the ends that the word stands for.
template <bool plain, typename Visit>
void each_end(const Router& router, std::uint64_t word, Visit&& visit) {
  for (; word != 0; word &= word - 1) {
    std::uint32_t end = first_of(word);
    visit(end);
    if constexpr (!plain)
      while ((end += word_ends) < router.ends) visit(end);
  }
}

// A VC enters a stage, or leaves it.
void enter(std::uint64_t& ends, VcMask& vcs, const InputVc& in) {
  vcs |= vc_bit(in.vc);
  ends |= bit(in.port);
}
template <bool plain>
void leave(State& state, std::uint64_t Router::*ends, VcMask InEnd::*stage, const InputVc& in) {
  Router& router = state.routers[in.router];
  VcMask left = state.in_ends[router.first_end + in.port].*stage &= ~vc_bit(in.vc);
  if (left != 0) return;
  if constexpr (!plain)
    each_end<false>(router, bit(in.port), [&](std::uint32_t end) {
      left |= state.in_ends[router.first_end + end].*stage;
    });
  if (left == 0) router.*ends &= ~bit(in.port);
}

std::uint32_t end_of(const State& state, const InputVc& in) {
  return state.routers[in.router].first_end + in.port;
}

// The next packet of a VC is to be routed.
void begin_packet(State& state, InputVc& in, std::uint32_t packet) {
  in.packet = packet;
  in.passed = 0;
  enter(state.routers[in.router].unrouted, state.in_ends[end_of(state, in)].unrouted, in);
}

// Visits all VCs of a router that are in a stage. visit(input) may end their stage.
template <bool plain, typename Visit>
void each_vc(State& state, const Router& router, std::uint64_t ends, VcMask InEnd::*stage,
             Visit&& visit) {
  each_end<plain>(router, ends, [&](std::uint32_t port) {
    const std::uint32_t end = router.first_end + port;
    for (VcMask vcs = state.in_ends[end].*stage; vcs != 0; vcs &= vcs - 1)
      visit(end * state.setup.vcs + first_of(vcs));
  });
}

bool ask_policy(State& state, std::uint32_t r, const Packet& packet, Choices& choices) {
  const Setup& setup = state.setup;
  Flight flight;
  flight.destination = setup.graph.router_of(NodeId(packet.to));
  flight.destination_node = NodeId(packet.to);
  flight.hops = static_cast<std::uint8_t>(std::min<std::uint32_t>(packet.hops, 255));
  flight.state = packet.route;
  if (setup.facts.asks_source) flight.source_node = NodeId(packet.from);
  choices.clear();
  const RouterId here = state.id_of(r);
  setup.policy.next(here, flight, FlitView(state, r), choices);
  if (choices.empty())
    state.note_failure(here, explain_no_way(setup.topology, here, NodeId(packet.to)));
  return !choices.empty();
}

// Where heads are asked for again, they are asked for only when they ask for a VC.
template <bool plain>
void route(State& state, std::uint32_t r) {
  const Setup& setup = state.setup;
  Router& router = state.routers[r];
  each_vc<plain>(state, router, router.unrouted, &InEnd::unrouted, [&](std::uint32_t input) {
    InputVc& in = state.inputs[input];
    InEnd& end = state.in_ends[end_of(state, in)];
    const Packet& packet = state.packets[in.packet];
    in.choices = state.choices.make();
    if (!setup.facts.again) ask_policy(state, r, packet, state.choices[in.choices]);
    // Looking ahead, it was routed while it waited.
    const std::int64_t begun_at = setup.machine.lookahead ? packet.head_at : state.now;
    in.ready_at = std::max(begun_at + setup.timing.route, state.now);
    leave<plain>(state, &Router::unrouted, &InEnd::unrouted, in);
    enter(router.waiting, end.waiting, in);
  });
}

std::uint32_t port_of(const State& state, std::uint32_t r, const Packet& packet,
                      const Choice& choice) {
  if (choice.port != Choice::eject) return choice.port;
  return state.routers[r].ports +
         static_cast<std::uint32_t>(state.setup.graph.local_index(NodeId(packet.to)));
}

std::int64_t priority_of(const State& state, const Router& router, const InputVc& in) {
  switch (state.setup.machine.arbitration) {
    case Arbitration::through_first:
      return in.port < router.ports ? 1 : 0;
    case Arbitration::age:
      return -state.packets[in.packet].born_ps;
    case Arbitration::round_robin:
      break;
  }
  return 0;
}

// VCs of an output that a packet may have now.
VcMask open_vcs(const State& state, std::uint32_t end, VcMask wanted, const Packet& packet) {
  VcMask open = state.out_ends[end].free & wanted;
  if (state.setup.model.flow_control == FlowControl::wormhole) return open;
  for (VcMask vcs = open; vcs != 0; vcs &= vcs - 1) {
    const std::uint32_t vc = first_of(vcs);
    if (state.outputs[end * state.setup.vcs + vc].credits < static_cast<std::int32_t>(packet.flits))
      open &= ~vc_bit(vc);
  }
  return open;
}

template <bool plain>
void request_vcs(State& state, std::uint32_t r, std::uint32_t input) {
  const Setup& setup = state.setup;
  const InputVc& in = state.inputs[input];
  const Router& router = state.routers[r];
  const Packet& packet = state.packets[in.packet];
  Choices& choices = state.choices[in.choices];
  if (setup.facts.again && !ask_policy(state, r, packet, choices)) return;
  const std::int64_t priority = priority_of(state, router, in);
  bool speculates = false;
  for (const Choice& choice : choices.all()) {
    const std::uint32_t port = port_of(state, r, packet, choice);
    const VcMask open = open_vcs(state, router.first_end + port,
                                 plain ? choice.vcs : setup.vcs_of(choice, in.vc), packet);
    for (VcMask vcs = open; vcs != 0; vcs &= vcs - 1)
      state.vc_allocator.request(in.port * setup.vcs + in.vc, port * setup.vcs + first_of(vcs),
                                 priority);
    if (open == 0) continue;
    if (setup.model.speculation && !speculates) {
      state.speculations.push_back({input, static_cast<std::uint16_t>(port)});
      speculates = true;
    }
    if (setup.model.requests == VcRequests::best) return;
  }
}

void note_ready(State& state, InputVc& in) {
  if (in.flits == 0 || state.outputs[in.output].credits == 0) return;
  enter(state.routers[in.router].ready, state.in_ends[end_of(state, in)].ready, in);
}

// `input` and `output` are numbers of VCs within the router. Inline: both versions of allot_vcs()
// call it for every packet.
template <bool plain>
[[gnu::always_inline]] inline void give_vc(State& state, std::uint32_t r, std::uint32_t input,
                                           std::uint32_t output) {
  const Setup& setup = state.setup;
  Router& router = state.routers[r];
  const std::uint32_t number = router.first_end * setup.vcs + input;
  InputVc& in = state.inputs[number];
  in.output = router.first_end * setup.vcs + output;
  in.out_port = static_cast<std::uint16_t>(output / setup.vcs);
  in.active = true;
  const std::uint32_t vc = output % setup.vcs;
  state.outputs[in.output].owner = number;
  state.out_ends[router.first_end + in.out_port].free &= ~vc_bit(vc);
  if (state.news != nullptr) state.news->check(r, in.out_port);
  Packet& packet = state.packets[in.packet];
  for (const Choice& choice : state.choices[in.choices].all()) {
    if (port_of(state, r, packet, choice) != in.out_port || ((choice.vcs >> vc) & 1) == 0) continue;
    packet.route = choice.state;
    break;
  }
  if (in.out_port < router.ports) ++packet.hops;
  state.choices.free(in.choices);
  in.choices = none;
  // Looking ahead, the time of this stage has passed while it waited.
  const std::int64_t begun_at =
      setup.machine.lookahead ? packet.head_at + setup.timing.route : state.now;
  in.ready_at = std::max(begun_at + setup.timing.vc_alloc, state.now);
  leave<plain>(state, &Router::waiting, &InEnd::waiting, in);
  note_ready(state, in);
}

template <bool plain>
void allot_vcs(State& state, std::uint32_t r) {
  Router& router = state.routers[r];
  each_vc<plain>(state, router, router.waiting, &InEnd::waiting, [&](std::uint32_t input) {
    if (state.inputs[input].ready_at <= state.now) request_vcs<plain>(state, r, input);
  });
  if (!state.vc_allocator.has_requests()) return;
  const std::uint32_t vcs = state.setup.vcs;
  const Turns turns = state.vc_turns.of(r, std::size_t{router.first_end} * vcs, router.ends * vcs);
  for (const Request& pair : state.vc_allocator.allot(turns))
    give_vc<plain>(state, r, pair.input, pair.output);
}

// Whether an output takes a flit in this matching from this input end.
template <bool plain>
bool is_output_open(const State& state, std::uint32_t end, std::uint32_t from) {
  const OutEnd& out = state.out_ends[end];
  const Setup& setup = state.setup;
  if (out.flit_ps > setup.timing.busy_above_ps && out.free_at_ps > state.now_ps()) return false;
  if (!plain && setup.crossbar.is_paced() &&
      !is_open(setup.crossbar, state.switch_ends[end].out_free_at, state.now))
    return false;
  return out.held_by == no_end || out.held_by == from;
}

// Whether the switch takes a flit in this matching from this input end.
template <bool plain>
bool is_input_open(const State& state, std::uint32_t end) {
  const Crossbar& crossbar = state.setup.crossbar;
  return plain || !crossbar.is_paced() ||
         is_open(crossbar, state.switch_ends[end].in_free_at, state.now);
}

// The outputs that one input asks for, in order.
template <bool plain>
class Asked {
 public:
  bool has(std::uint32_t output) const { return (outputs_ & bit(output)) != 0; }
  void add(std::uint32_t output) { outputs_ |= bit(output); }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::uint64_t left = outputs_; left != 0; left &= left - 1) visit(first_of(left));
  }

 private:
  std::uint64_t outputs_ = 0;
};

// More outputs than stand in a word; not more than the input has VCs.
template <>
class Asked<false> {
 public:
  bool has(std::uint32_t output) const {
    return std::find(outputs_.begin(), outputs_.begin() + count_, output) !=
           outputs_.begin() + count_;
  }
  void add(std::uint32_t output) {
    if (has(output)) return;
    const auto end = outputs_.begin() + count_++;
    const auto place = std::upper_bound(outputs_.begin(), end, output);
    std::copy_backward(place, end, end + 1);
    *place = static_cast<std::uint16_t>(output);
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (int i = 0; i < count_; ++i) visit(outputs_[static_cast<std::size_t>(i)]);
  }

 private:
  std::array<std::uint16_t, max_vcs> outputs_;
  int count_ = 0;
};

// Of VCs that want the same way from one input, the first in turn asks, or the oldest packet's.
template <bool plain>
void request_switch(State& state, std::uint32_t r, std::uint32_t port) {
  const Router& router = state.routers[r];
  if (!is_input_open<plain>(state, router.first_end + port)) return;
  const InEnd& end = state.in_ends[router.first_end + port];
  const std::uint32_t first = (router.first_end + port) * state.setup.vcs;
  const VcMask ready = end.held == nobody ? end.ready : end.ready & vc_bit(end.held);
  const VcMask before_turn = vc_bit(end.vc_turn) - 1;
  Asked<plain> asks;
  for (VcMask part : {ready & ~before_turn, ready & before_turn}) {
    for (; part != 0; part &= part - 1) {
      const std::uint32_t vc = first_of(part);
      const InputVc& in = state.inputs[first + vc];
      if (in.ready_at > state.now) continue;
      if (!is_output_open<plain>(state, router.first_end + in.out_port, port)) continue;
      if (asks.has(in.out_port) &&
          priority_of(state, router, in) <=
              priority_of(state, router, state.inputs[first + state.asked[in.out_port]]))
        continue;
      asks.add(in.out_port);
      state.asked[in.out_port] = static_cast<std::uint8_t>(vc);
    }
  }
  asks.each([&](std::uint32_t out) {
    const std::uint32_t vc = state.asked[out];
    state.switch_allocator.request(port, out, priority_of(state, router, state.inputs[first + vc]),
                                   vc);
  });
}

void hold_switch(State& state, const InputVc& in, bool hold) {
  const Router& router = state.routers[in.router];
  InEnd& end = state.in_ends[router.first_end + in.port];
  OutEnd& out = state.out_ends[router.first_end + in.out_port];
  end.held = hold ? in.vc : nobody;
  out.held_by = hold ? in.port : no_end;
}

// Inline, as the next: both versions of pass() call them for every flit.
[[gnu::always_inline]] inline void send_credit(State& state, const InEnd& end, const InputVc& in,
                                               bool tail, const Packet& packet) {
  const bool whole = state.setup.machine.release == Release::tail;
  if (whole && !tail) return;
  const std::int64_t at = state.now + end.credit_delay;
  const CreditArrival credit{end.feeder + in.vc, whole ? packet.flits : 1};
  if (end.remote_worker == nobody)
    state.credits.push(at, credit);
  else
    state.mail.send_credit(end.remote_worker, at, credit);
}

// The first packet of a VC has passed on.
[[gnu::always_inline]] inline void end_packet(State& state, std::uint32_t input) {
  InputVc& in = state.inputs[input];
  OutputVc& out = state.outputs[in.output];
  OutEnd& out_end = state.out_ends[state.routers[in.router].first_end + in.out_port];
  out.owner = none;
  out_end.free |= vc_bit(in.output % state.setup.vcs);
  if (out_end.remote_worker != nobody) state.packets.free(in.packet);  // Its reader has a copy.
  in.active = false;
  in.packet = none;
  ++in.head;
  if (in.head != in.tail) begin_packet(state, in, state.ring(input, in.head));
}

// The first flit of a VC crosses the switch.
template <bool plain>
void pass(State& state, std::uint32_t input) {
  const Setup& setup = state.setup;
  InputVc& in = state.inputs[input];
  Router& router = state.routers[in.router];
  InEnd& end = state.in_ends[router.first_end + in.port];
  OutEnd& out_end = state.out_ends[router.first_end + in.out_port];
  OutputVc& out = state.outputs[in.output];
  const Packet& packet = state.packets[in.packet];
  const bool head = in.passed == 0;
  const bool tail = ++in.passed == packet.flits;
  state.moved_at = state.now;
  --in.flits;
  --out.credits;
  if (state.news != nullptr) state.news->check(in.router, in.out_port);
  end.vc_turn = static_cast<std::uint8_t>(in.vc + 1u == setup.vcs ? 0 : in.vc + 1);
  out_end.passed.packets += head ? 1 : 0;
  out_end.passed.bytes += setup.bytes_of(packet, tail);
  if (out_end.flit_ps > setup.timing.busy_above_ps)
    out_end.free_at_ps = state.busy_until(out_end.free_at_ps, out_end.flit_ps);
  if (!plain && setup.crossbar.is_paced())
    pass_switch(setup.crossbar, state.switch_ends[router.first_end + in.port],
                state.switch_ends[router.first_end + in.out_port], state.now);
  const std::int64_t at = state.now + out_end.delay;
  const std::uint32_t target = out_end.target + in.output % setup.vcs;
  if (!plain && at == state.now)
    take_queued_flit(state, {target, head || tail ? in.packet : none, head, tail});
  else if (out_end.remote_worker == nobody)
    state.flits.push(at, {target, head || tail ? in.packet : none, head, tail});
  else
    state.mail.send_flit(out_end.remote_worker, at, target, head ? &packet : nullptr);
  send_credit(state, end, in, tail, packet);
  // A packet that lacks flits or credits gives the switch up, so that others use the link.
  if (setup.model.hold_switch) hold_switch(state, in, !tail && in.flits > 0 && out.credits > 0);
  if (tail || in.flits == 0 || out.credits == 0)
    leave<plain>(state, &Router::ready, &InEnd::ready, in);
  if (tail) end_packet(state, input);
}

// Behind all requests of packets that have a VC.
constexpr std::int64_t speculative = std::int64_t{1} << 62;

// Heads ask for the switch before they know whether they get a VC.
template <bool plain>
void request_speculatively(State& state, std::uint32_t r) {
  const Router& router = state.routers[r];
  Allocator& allocator = state.switch_allocator;
  for (const Speculation& one : state.speculations) {
    const InputVc& in = state.inputs[one.input];
    const std::uint32_t end = router.first_end + in.port;
    if (state.in_ends[end].held != nobody || allocator.has_request(in.port, one.out_port)) continue;
    if (!is_input_open<plain>(state, end)) continue;
    if (!is_output_open<plain>(state, router.first_end + one.out_port, in.port)) continue;
    allocator.request(in.port, one.out_port, priority_of(state, router, in) - speculative, in.vc);
  }
  state.speculations.clear();
}

// What was granted to a head that got no VC, one of another output, or one without credits, is
// lost.
bool may_pass(const State& state, InputVc& in, std::uint32_t out_port) {
  if (!in.active || in.out_port != out_port || state.outputs[in.output].credits == 0) return false;
  in.ready_at = state.now;
  return true;
}

// Returns whether anything has passed; not for plain ones, where nobody asks.
template <bool plain>
bool allot_switch(State& state, std::uint32_t r) {
  const Router& router = state.routers[r];
  Allocator& allocator = state.switch_allocator;
  each_end<plain>(router, router.ready,
                  [&](std::uint32_t port) { request_switch<plain>(state, r, port); });
  if (!state.speculations.empty()) request_speculatively<plain>(state, r);
  if (!allocator.has_requests()) return false;
  if (state.news != nullptr && (plain || !state.setup.is_buffered()))
    state.news->note_asked(r, plain ? allocator.outputs_asked() : allocator.first_outputs_asked(),
                           state.now);
  const Turns turns = state.switch_turns.of(r, router.first_end, router.ends);
  bool any = false;
  for (const Request& pair : allocator.allot(turns)) {
    const std::uint32_t input = (router.first_end + pair.input) * state.setup.vcs + pair.tag;
    if (!may_pass(state, state.inputs[input], pair.output)) continue;
    pass<plain>(state, input);
    if (!plain) any = true;
  }
  return any;
}

template <bool plain>
void play_cycle(State& state, std::uint32_t r) {
  const Setup& setup = state.setup;
  const Router& router = state.routers[r];
  ++state.visits;
  bool decides = true, passes = false, sends = false;
  for (int rounds = plain ? 1 : setup.crossbar.rounds;; --rounds) {
    if (router.unrouted != 0 && decides) route<plain>(state, r);
    if (router.waiting != 0 && decides) allot_vcs<plain>(state, r);
    passes = router.ready != 0 && allot_switch<plain>(state, r);
    state.speculations.clear();
    if (plain || rounds == 1 || !passes) break;
    // Without looking ahead, what moves up in this cycle is routed in the next.
    decides = setup.machine.lookahead;
  }
  if (!plain && setup.is_buffered()) sends = serve_links(state, r);
  if ((router.unrouted | router.waiting | router.ready) == 0 && !sends) state.active.remove(r);
}

}  // namespace

void take_flit(State& state, const FlitArrival& flit) {
  InputVc& in = state.inputs[flit.input];
  ++in.flits;
  if (flit.head) {
    state.packets[flit.packet].head_at = state.now;
    state.ring(flit.input, in.tail++) = flit.packet;
    if (in.packet == none) {
      begin_packet(state, in, flit.packet);
      state.active.add(in.router);
    }
    return;
  }
  if (!in.active) return;
  note_ready(state, in);
  state.active.add(in.router);
}

void take_credit(State& state, const CreditArrival& credit) {
  OutputVc& out = state.outputs[credit.output];
  out.credits += static_cast<std::int32_t>(credit.count);
  if (state.news != nullptr) {
    const InputVc& same = state.inputs[credit.output];  // An end's input has the same number.
    state.news->check(same.router, same.port);
  }
  if (out.owner == none) return;
  InputVc& in = state.inputs[out.owner];
  note_ready(state, in);
  state.active.add(in.router);
}

void work(State& state, std::uint32_t r) {
  if (state.setup.is_plain)
    play_cycle<true>(state, r);
  else
    play_cycle<false>(state, r);
}

}  // namespace weft::flits
