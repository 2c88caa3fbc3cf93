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

// A router's own state, found once per visit, and what the compiler would otherwise load again
// after every store. All functions below become one: it lives in registers.
struct Engine::Here {
  std::uint32_t r;
  int worker;
  std::uint32_t vcs;
  Router& router;
  std::int64_t* next;  // By actor.
  Output* outputs;
  Input* inputs;
  Slot* slots;             // Of input 0; each has a ring.
  std::uint64_t* waiting;  // By output.
  Account* accounts;       // By output and VC.
  std::int64_t* crossbar;  // By input port.
  std::uint64_t* fresh;
  Choices* choices;
  std::uint32_t ring_bits, ring_mask;

  Slot& head(std::uint32_t bit) const {
    return slots[(std::size_t{bit} << ring_bits) + (inputs[bit].head & ring_mask)];
  }
};

[[gnu::always_inline]] inline void Engine::route_plain(const Here& here, std::uint32_t bit) {
  Input& in = here.inputs[bit];
  Slot& packet = here.head(bit);
  const std::uint32_t node = packet.node;
  Flight flight;
  flight.destination = graph_.router_of(NodeId(node));
  flight.destination_node = NodeId(node);
  flight.hops = static_cast<std::uint8_t>(packet.hops);
  flight.state = packet.route;
  if (facts_.asks_source) flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices& choices = *here.choices;
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
  const std::int64_t ready = ready_at(in, packet.head_at);
  in.ready_at = ready;
  in.vcs = choice.vcs & all_vcs_;
  packet.route = choice.state;
  if (choice.port != Choice::eject && packet.hops < 255) ++packet.hops;
  here.waiting[output] |= std::uint64_t{1} << bit;
  std::int64_t& next = here.next[1 + output];
  next = std::min(next, std::max(ready, here.outputs[output].free_at));
  here.router.active |= std::uint64_t{2} << output;
}

// The packet already stands in its slot.
[[gnu::always_inline]] inline void Engine::push_plain(const Here& here, const Output& out,
                                                      std::uint32_t vc, const Slot& packet,
                                                      std::int64_t head_at) {
  if (out.remote) {
    mail_packet(here.worker, out, vc, packet);
    return;
  }
  const std::uint32_t target = out.target + vc;
  Input& in = inputs_[target];
  const bool empty = in.head == in.tail;
  ++in.tail;
  if (!empty) return;
  const std::uint32_t peer = out.router;
  fresh_[peer] |= std::uint64_t{1} << (target - routers_[peer].first_input);
  wake(here.worker, peer, ready_at(in, head_at));
}

// The head of `bit` goes through `output` now.
[[gnu::always_inline]] inline void Engine::grant_plain(const Here& here, const Grant& grant,
                                                       Slot& left, std::int64_t now) {
  const auto [output, bit, vc] = grant;
  Output& out = here.outputs[output];
  Input& in = here.inputs[bit];
  const Wire& wire = wires_[out.wire];
  const std::int64_t size = left.size;
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  // The last flit goes when those before it have gone and it is here.
  const std::int64_t tail =
      std::max(now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0)),
               left.head_at + left.tail_after);
  const std::int64_t free_at = tail + flit;
  out.free_at = free_at;
  out.last_vc = static_cast<std::uint8_t>(vc);
  out.pointer = static_cast<std::uint16_t>(bit + 1);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  here.waiting[output] &= ~(std::uint64_t{1} << bit);
  here.crossbar[in.port] = free_at;
  Account& account = here.accounts[output * here.vcs + vc];
  // Copied, then overwritten: the slot is cold, and whoever reads from it waits (22 % of the time
  // of permutation/4096/packets:1 when the hops were counted here).
  const std::int64_t head_at = now + wire.delay;
  Slot& packet = slots_[account.ring + (account.pushed & here.ring_mask)];
  packet = left;
  packet.head_at = head_at;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  if (!machine_.lookahead) account.free_at = free_at + wire.vc_alloc;
  const std::int64_t stamp = stamp_at(in, size, now, tail);
  left.head_at = stamp;
  left.route = in.departed += static_cast<std::uint32_t>(size);
  in.ready_at = free_at;
  __builtin_prefetch(
      &here.slots[(std::size_t{bit} << here.ring_bits) + ((in.head + 3u) & here.ring_mask)], 1);
  if (++in.head != in.tail) *here.fresh |= std::uint64_t{1} << bit;
  if (in.remote) {
    mail_credit(here.worker, in, stamp);
  } else if (in.starved) {
    credit(here.worker, in, stamp);
  }
  if (out.kind == to_node) {
    deliver(here.worker, out, static_cast<int>(vc), packet);
    return;
  }
  push_plain(here, out, vc, packet, head_at);
}

[[gnu::always_inline]] inline void Engine::serve_plain(const Here& here, std::uint32_t output,
                                                       std::int64_t now) {
  const Output& out = here.outputs[output];
  std::int64_t& next = here.next[1 + output];
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  const std::uint64_t after = out.pointer < 64 ? ~std::uint64_t{0} << out.pointer : 0;
  std::int64_t possible_at = never_at;
  for (std::uint64_t left = here.waiting[output]; left != 0;) {
    std::uint64_t set = left & here.router.through;
    if (set == 0) set = left;
    if ((set & after) != 0) set &= after;
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(set));
    left &= ~(std::uint64_t{1} << bit);
    const Input& in = here.inputs[bit];
    const std::int64_t at = std::max(in.ready_at, here.crossbar[in.port]);
    if (at > now) {
      possible_at = std::min(possible_at, at);
      continue;
    }
    Slot& packet = here.head(bit);
    const std::int64_t size = packet.size;
    int vc = std::countr_zero(in.vcs);
    if ((in.vcs & (in.vcs - 1)) == 0) {
      const Account& account = here.accounts[output * here.vcs + static_cast<std::uint32_t>(vc)];
      if (account.free_at > now || !has_room(account, out, size)) {
        const std::int64_t room = room_at(here.router.first_output + output, vc, size, now);
        if (room > now) {
          possible_at = std::min(possible_at, room);
          continue;
        }
      }
    } else {
      vc = pick_vc(here.router.first_output + output, in.vcs, size, now, possible_at);
      if (vc < 0) continue;
    }
    grant_plain(here, {output, bit, static_cast<std::uint32_t>(vc)}, packet, now);
    next = here.waiting[output] != 0 ? out.free_at : never_at;
    return;
  }
  next = possible_at;
}

void Engine::visit_plain(int worker, std::uint32_t r, std::int64_t to) {
  Router& router = routers_[r];
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  const Here here{.r = r,
                  .worker = worker,
                  .vcs = vcs_,
                  .router = router,
                  .next = &next_at_[router.first_next],
                  .outputs = &outputs_[router.first_output],
                  .inputs = &inputs_[router.first_input],
                  .slots = &slots_[std::size_t{router.first_input} << ring_bits_],
                  .waiting = &waiting_[router.first_output],
                  .accounts = &accounts_[std::size_t{router.first_output} * vcs_],
                  .crossbar = &crossbar_free_at_[first_in_port_[r]],
                  .fresh = &fresh_[r],
                  .choices = &crew.choices,
                  .ring_bits = ring_bits_,
                  .ring_mask = ring_mask_};
  router.wake_at = visiting;
  ++crew.counts.visits;
  const int cards = router.outputs - router.nodes;
  for (;;) {
    for (std::uint64_t fresh = std::exchange(*here.fresh, 0); fresh != 0; fresh &= fresh - 1) {
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
