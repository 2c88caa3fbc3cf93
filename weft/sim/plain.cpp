// SPDX-License-Identifier: Apache-2.0
// The same decisions as hop.cpp for the plain case: one way per head, masks of one word, no output
// buffers, a policy that does not look, round robin with or without through-first. Most simulations
// are plain, and this is where they spend their time; it is written to touch memory once and to
// branch little. The property tests hold both to the same oracle.
#include <algorithm>
#include <bit>

#include <weft/sim/flow.hpp>
#include <weft/sim/view.hpp>

namespace weft::detail {

// A router's own state, found once per visit.
struct Engine::Here {
  std::uint32_t r;
  int worker;
  Router& router;
  std::int64_t* next;  // By actor.
  Output* outputs;
  Input* inputs;
  std::uint64_t* waiting;  // By output.
  Account* accounts;       // By output and VC.
  std::int64_t* crossbar;  // By input port.
  Choices& choices;
};

inline void Engine::route_plain(const Here& here, std::uint32_t bit) {
  Input& in = here.inputs[bit];
  Slot& packet = slot(in, in.head);
  const std::uint32_t node = packet.node;
  Flight flight;
  flight.destination = graph_.router_of(NodeId(node));
  flight.destination_node = NodeId(node);
  flight.hops = static_cast<std::uint8_t>(packet.hops);
  flight.state = packet.route;
  if (facts_.asks_source) flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices& choices = here.choices;
  choices.clear();
  policy_.next(RouterId(here.r), flight, View(*this, here.r, 0), choices);
  if (choices.empty()) {
    no_way(here.worker, here.r, packet);
    return;
  }
  const Choice& choice = choices[0];
  const std::uint32_t output =
      choice.port == Choice::eject
          ? here.router.ports + static_cast<std::uint32_t>(graph_.local_index(NodeId(node)))
          : choice.port;
  in.ready_at = ready_at(in);
  in.vcs = choice.vcs & all_vcs_;
  packet.route = choice.state;
  here.waiting[output] |= std::uint64_t{1} << bit;
  std::int64_t& next = here.next[1 + output];
  next = std::min(next, std::max(in.ready_at, here.outputs[output].free_at));
  here.router.active |= std::uint64_t{2} << output;
}

// The head of `bit` goes through `output` now.
inline void Engine::grant_plain(const Here& here, std::uint32_t output, std::uint32_t bit, int vc,
                                std::int64_t now) {
  Output& out = here.outputs[output];
  Input& in = here.inputs[bit];
  Slot& left = slot(in, in.head);
  Slot packet = left;
  const Wire& wire = wires_[out.wire];
  const std::int64_t size = packet.size;
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  // The last flit goes when those before it have gone and it is here.
  const std::int64_t tail =
      std::max(now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0)),
               packet.head_at + packet.tail_after);
  const std::int64_t free_at = tail + flit;
  out.free_at = free_at;
  out.last_vc = static_cast<std::uint8_t>(vc);
  out.pointer = static_cast<std::uint16_t>(bit + 1);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  here.waiting[output] &= ~(std::uint64_t{1} << bit);
  here.crossbar[in.port] = free_at;
  Account& account = here.accounts[output * vcs_ + static_cast<std::uint32_t>(vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  if (!machine_.lookahead) account.free_at = free_at + wire.vc_alloc;
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  left.head_at = stamp_at(in, left.size, now, tail);
  ++in.head;
  in.ready_at = free_at;
  if (in.remote) {
    mail_credit(here.worker, in, left.head_at);
  } else if (in.starved) {
    credit(here.worker, in, left.head_at);
  }
  if (in.head != in.tail) route_plain(here, bit);
  if (out.kind == to_node) {
    deliver(here.worker, out, vc, packet);
    return;
  }
  if (packet.hops < 255) ++packet.hops;
  push(here.worker, out, vc, packet);
}

inline void Engine::serve_plain(const Here& here, std::uint32_t output, std::int64_t now) {
  const Output& out = here.outputs[output];
  std::int64_t& next = here.next[1 + output];
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  const std::uint32_t global = here.router.first_output + output;
  const std::uint64_t after = out.pointer < 64 ? ~std::uint64_t{0} << out.pointer : 0;
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = here.waiting[output]; left != 0;) {
    std::uint64_t set = left & here.router.through;
    if (set == 0) set = left;
    if ((set & after) != 0) set &= after;
    const std::uint64_t one = set & (0 - set);
    left &= ~one;
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(one));
    const Input& in = here.inputs[bit];
    const std::int64_t at = std::max(in.ready_at, here.crossbar[in.port]);
    if (at > now) {
      possible_at = std::min(possible_at, at);
      continue;
    }
    const std::int64_t size = slot(in, in.head).size;
    int vc = std::countr_zero(in.vcs);
    if ((in.vcs & (in.vcs - 1)) == 0) {
      const std::int64_t room = room_at(global, vc, size, now);
      if (room > now) {
        possible_at = std::min(possible_at, room);
        continue;
      }
    } else {
      vc = pick_vc(global, in.vcs, size, now, possible_at);
      if (vc < 0) continue;
    }
    grant_plain(here, output, bit, vc, now);
    next = here.waiting[output] != 0 ? out.free_at : never_at;
    return;
  }
  next = possible_at;
}

void Engine::visit_plain(int worker, std::uint32_t r, std::int64_t to) {
  Router& router = routers_[r];
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  const Here here{r,
                  worker,
                  router,
                  &next_at_[router.first_next],
                  &outputs_[router.first_output],
                  &inputs_[router.first_input],
                  &waiting_[router.first_output],
                  &accounts_[std::size_t{router.first_output} * vcs_],
                  &crossbar_free_at_[first_in_port_[r]],
                  crew.choices};
  router.wake_at = visiting;
  ++crew.counts.visits;
  const int cards = router.outputs - router.nodes;
  for (;;) {
    for (std::uint64_t fresh = std::exchange(fresh_[r], 0); fresh != 0; fresh &= fresh - 1) {
      route_plain(here, static_cast<std::uint32_t>(std::countr_zero(fresh)));
    }
    std::int64_t now = never_at;
    int actor = 0;
    for (std::uint64_t set = router.active; set != 0; set &= set - 1) {
      const int a = std::countr_zero(set);
      const std::int64_t at = here.next[a];
      if (at < now) {
        now = at;
        actor = a;
      } else if (at == never_at) {
        router.active &= ~(set & (0 - set));
      }
    }
    if (now >= to) {
      router.wake_at = never_at;
      if (now < never_at) wake(worker, r, now);
      return;
    }
    const int output = actor - 1;
    if (output < cards) {
      serve_plain(here, static_cast<std::uint32_t>(output), now);
    } else if (output < router.outputs) {
      serve_card(worker, r, output, now);
    } else {
      ring_alarm(worker, r, output - router.outputs, now);
    }
  }
}

}  // namespace weft::detail
