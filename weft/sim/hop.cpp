// SPDX-License-Identifier: Apache-2.0
// One hop: a head is routed; an output decides who goes, and into which virtual channel; what
// follows from it.
#include <algorithm>
#include <bit>

#include <weft/sim/flow.hpp>
#include <weft/sim/view.hpp>

namespace weft::detail {

void Engine::visit(int worker, std::uint32_t r, Time to) {
  if (plain_) {
    visit_router<true>(worker, r, to.in_ps());
  } else {
    visit_router<false>(worker, r, to.in_ps());
  }
}

// Who is next, and when; the lower number among equals.
template <bool plain>
inline int Engine::next_actor(Router& router, std::int64_t& now) const {
  const std::int64_t* const next = &next_at_[router.first_next];
  int actor = 0;
  now = next[0];
  if (plain) {
    for (std::uint64_t set = router.active; set != 0; set &= set - 1) {
      const int a = std::countr_zero(set);
      if (next[a] < now) {
        now = next[a];
        actor = a;
      } else if (next[a] == never_at) {
        router.active &= ~(set & (0 - set));
      }
    }
    return actor;
  }
  for (int a = 1; a < router.actors; ++a) {
    if (next[a] < now) {
      now = next[a];
      actor = a;
    }
  }
  return actor;
}

template <bool plain>
void Engine::visit_router(int worker, std::uint32_t r, std::int64_t to) {
  Router& router = routers_[r];
  router.wake_at = visiting;
  ++crews_[static_cast<std::size_t>(worker)].counts.visits;
  const int cards = router.outputs - router.nodes;
  for (;;) {
    // A route that does not depend on time is computed as soon as we are here.
    if (plain) {
      route_plain_heads(worker, r);
    } else if (!facts_.looks) {
      route_heads(worker, r, 0);
    }
    std::int64_t now = 0;
    const int actor = next_actor<plain>(router, now);
    if (now >= to) {
      router.wake_at = never_at;
      if (now < never_at) wake(worker, r, now);
      return;
    }
    const int output = actor - 1;
    if (actor > 0 && output < cards) {
      serve<plain>(worker, r, output, now, nullptr);
    } else if (actor == 0) {
      route_heads(worker, r, now);
    } else if (output < router.outputs) {
      serve_card(worker, r, output, now);
    } else {
      ring_alarm(worker, r, output - router.outputs, now);
    }
  }
}

inline void Engine::route_plain_heads(int worker, std::uint32_t r) {
  for (std::uint64_t word = std::exchange(fresh_[r], 0); word != 0; word &= word - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
    route_head<true>(worker, r, routers_[r].first_input + bit, 0);
  }
}

void Engine::route_heads(int worker, std::uint32_t r, std::int64_t now) {
  std::int64_t later = never_at;
  std::uint64_t* const fresh = &fresh_[std::size_t{r} * words_];
  for (std::uint32_t w = 0; w < words_; ++w) {
    for (std::uint64_t word = fresh[w]; word != 0; word &= word - 1) {
      const std::uint32_t bit = w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      const std::uint32_t input = routers_[r].first_input + bit;
      if (facts_.looks) {
        const std::int64_t at = route_at(inputs_[input]);
        if (at > now) {
          later = std::min(later, at);
          continue;
        }
      }
      fresh[w] &= ~(std::uint64_t{1} << (bit % 64));
      if (ways_ == 1) {
        route_head<true>(worker, r, input, now);
      } else {
        route_head<false>(worker, r, input, now);
      }
    }
  }
  next_of(r, 0) = later;
}

template <bool one_way>
void Engine::route_head(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now) {
  const Router& router = routers_[r];
  Input& in = inputs_[input];
  Slot& packet = slot(in, in.head);
  Flight flight;
  flight.destination = graph_.router_of(NodeId(packet.node));
  flight.destination_node = NodeId(packet.node);
  flight.hops = static_cast<std::uint8_t>(packet.hops);
  flight.state = packet.route;
  if (facts_.asks_source) flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices& choices = crews_[static_cast<std::size_t>(worker)].choices;
  choices.clear();
  policy_.next(RouterId(r), flight, View(*this, r, now), choices);
  if (choices.empty()) {
    fail(worker, r, packet.head_at,
         "no way from " + router_name(topology_, RouterId(r)) + " to " +
             node_name(topology_, NodeId(packet.node)) +
             " under this routing: a cable on the way is down");
    return;
  }
  WEFT_DCHECK(choices.count() <= facts_.choices_max);
  in.ready_at = ready_at(in);
  const std::uint32_t bit = input - router.first_input;
  const int count = one_way ? 1 : choices.count();
  if (!one_way) way_count_[input] = static_cast<std::uint8_t>(count);
  for (int i = 0; i < count; ++i) {
    const Choice& choice = choices[i];
    const int output = choice.port == Choice::eject
                           ? router.ports + graph_.local_index(NodeId(packet.node))
                           : choice.port;
    const VcMask vcs = choice.vcs & vc_range(0, machine_.vcs);
    if (one_way) {
      in.vcs = vcs;
      packet.route = choice.state;
    } else {
      way_list_[std::size_t{input} * ways_ + static_cast<std::uint32_t>(i)] = {
          .output = static_cast<std::uint16_t>(output), .vcs = vcs, .route = choice.state};
    }
    const std::uint32_t global = router.first_output + static_cast<std::uint32_t>(output);
    waiting(global)[bit / 64] |= std::uint64_t{1} << (bit % 64);
    bring_forward(r, 1 + output, std::max(in.ready_at, outputs_[global].free_at));
  }
}

// The same in an output buffer: there is but one way on, the cable.
void Engine::queue_head(std::uint32_t input, std::uint32_t router) {
  Input& in = inputs_[input];
  const auto ends = static_cast<std::uint32_t>(cable_count(router));
  const std::uint32_t local = input - routers_[router].first_input - ends * vcs_;
  const std::uint32_t output = ends + local / vcs_;
  const std::uint32_t vc = local % vcs_;
  in.ready_at = std::max(in.ready_at, slot(in, in.head).head_at);
  in.vcs = VcMask{1} << vc;
  const std::uint32_t global = routers_[router].first_output + output;
  waiting(global)[0] |= std::uint64_t{1} << vc;
  bring_forward(router, 1 + static_cast<int>(output),
                std::max(in.ready_at, outputs_[global].free_at));
}

template <bool plain>
void Engine::serve(int worker, std::uint32_t r, int output, std::int64_t now, const Frame* below) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  std::int64_t& next = next_of(r, 1 + output);
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  const Candidate winner = !plain && machine_.arbitration == Arbitration::age
                               ? find_oldest(r, output, now)
                               : find_winner<plain>(worker, r, output, now, below);
  if (winner.vc < 0) {
    WEFT_DCHECK(winner.possible_at > now);
    next = winner.possible_at;
    return;
  }
  grant<plain>(worker, r, output, winner, now);
  const std::uint64_t* const mask = waiting(global);
  const bool more =
      plain ? mask[0] != 0 : std::any_of(mask, mask + words_, [](auto w) { return w != 0; });
  next = more ? out.free_at : never_at;
}

// Calls attempt(bit) for the candidates in the order in which they have a right to the output,
// until it returns true.
template <bool plain, typename Attempt>
inline void Engine::try_in_order(std::uint32_t r, int output, Attempt&& attempt) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  const std::uint64_t* const mask = waiting(global);
  const std::uint32_t pointer = outputs_[global].pointer;
  const std::uint32_t own = routers_[r].ports * vcs_;  // From here on: packets of the own nodes.
  const bool through_first = machine_.arbitration == Arbitration::through_first;
  if (plain) {
    const std::uint64_t after = pointer < 64 ? ~std::uint64_t{0} << pointer : 0;
    const std::uint64_t through =
        through_first && own < 64 ? (std::uint64_t{1} << own) - 1 : ~std::uint64_t{0};
    for (const std::uint64_t set : {mask[0] & through, mask[0] & ~through}) {
      for (std::uint64_t part = set & after; part != 0; part &= part - 1) {
        if (attempt(static_cast<std::uint32_t>(std::countr_zero(part)))) return;
      }
      for (std::uint64_t part = set & ~after; part != 0; part &= part - 1) {
        if (attempt(static_cast<std::uint32_t>(std::countr_zero(part)))) return;
      }
    }
    return;
  }
  const auto scan = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t w = begin / 64; w * 64 < end; ++w) {
      std::uint64_t word = mask[w];
      if (w == begin / 64) word &= ~std::uint64_t{0} << (begin % 64);
      if (end < w * 64 + 64) word &= (std::uint64_t{1} << (end % 64)) - 1;
      for (; word != 0; word &= word - 1) {
        if (attempt(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)))) return true;
      }
    }
    return false;
  };
  const std::uint32_t end = words_ * 64;
  if (!through_first || output >= cable_count(r)) {
    static_cast<void>(scan(pointer, end) || scan(0, pointer));
    return;
  }
  const std::uint32_t low = std::min(pointer, own), high = std::max(pointer, own);
  static_cast<void>(scan(low, own) || scan(0, low) || scan(high, end) || scan(own, high));
}

template <bool plain>
inline Engine::Candidate Engine::find_winner(int worker, std::uint32_t r, int output,
                                             std::int64_t now, const Frame* below) {
  const Frame here{output, below};
  std::uint64_t tried =
      0;  // Better outputs served on the way; modulo 64 will do, it only ends the search sooner.
  for (;;) {
    Candidate best;
    int better = -1;
    try_in_order<plain>(r, output, [&](std::uint32_t bit) {
      const Candidate c = weigh<plain>(r, output, bit, now);
      if (c.vc < 0) {
        best.possible_at = std::min(best.possible_at, c.possible_at);
        return false;
      }
      best = c;
      if (!plain && ways_ > 1) {
        better = better_output(r, c, output, now, &here);
        if (better >= 0 && ((tried >> (better % 64)) & 1) != 0) better = -1;
      }
      return true;
    });
    if (plain || better < 0) return best;
    // The first in line would rather go elsewhere and could do so now: let that output decide
    // first.
    tried |= std::uint64_t{1} << (better % 64);
    serve<false>(worker, r, better, now, &here);
  }
}

Engine::Candidate Engine::find_oldest(std::uint32_t r, int output, std::int64_t now) {
  Candidate best;
  std::int64_t oldest = never_at;
  std::uint32_t oldest_from = 0;
  try_in_order<false>(r, output, [&](std::uint32_t bit) {
    const Candidate c = weigh<false>(r, output, bit, now);
    if (c.vc < 0) {
      if (best.vc < 0) best.possible_at = std::min(best.possible_at, c.possible_at);
      return false;
    }
    const Input& in = inputs_[c.input];
    const Message& message = (*messages_)[slot(in, in.head).message];
    if (best.vc < 0 || std::pair(message.born_at, message.from) < std::pair(oldest, oldest_from)) {
      best = c;
      oldest = message.born_at;
      oldest_from = message.from;
    }
    return false;
  });
  return best;
}

template <bool plain>
inline Engine::Candidate Engine::weigh(std::uint32_t r, int output, std::uint32_t bit,
                                       std::int64_t now) {
  Candidate c;
  c.input = plain ? routers_[r].first_input + bit : first_candidate(r, output) + bit;
  const Input& in = inputs_[c.input];
  std::int64_t at = in.ready_at;
  if (plain || in.port != no_port) at = std::max(at, crossbar_free(r, in.port));
  if (at > now) {
    c.possible_at = at;
    return c;
  }
  const Slot& packet = slot(in, in.head);
  c.vcs = in.vcs;
  c.route = packet.route;
  if (!plain && ways_ > 1 && in.port != no_port) {
    const Way* way = &way_list_[std::size_t{c.input} * ways_];
    while (way->output != output) ++way;
    c.vcs = way->vcs;
    c.route = way->route;
  }
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  if (std::has_single_bit(c.vcs)) {
    const int vc = std::countr_zero(c.vcs);
    const std::int64_t room = room_at(global, vc, packet.size, now);
    c.possible_at = room;
    c.vc = room <= now ? vc : -1;
  } else {
    c.vc = pick_vc(global, c.vcs, packet.size, now, c.possible_at);
  }
  return c;
}

// An output that this candidate likes better than the one at hand and could take right now; -1 for
// none.
int Engine::better_output(std::uint32_t r, const Candidate& c, int output, std::int64_t now,
                          const Frame* below) {
  const Input& in = inputs_[c.input];
  if (in.port == no_port) return -1;
  for (const Way* way = &way_list_[std::size_t{c.input} * ways_]; way->output != output; ++way) {
    const std::uint32_t global = routers_[r].first_output + way->output;
    if (outputs_[global].free_at > now) continue;
    bool busy = false;
    for (const Frame* f = below; f != nullptr; f = f->below) busy |= f->output == way->output;
    std::int64_t ignored = never_at;
    if (!busy && pick_vc(global, way->vcs, slot(in, in.head).size, now, ignored) >= 0) {
      return way->output;
    }
  }
  return -1;
}

template <bool plain>
inline void Engine::grant(int worker, std::uint32_t r, int output, const Candidate& c,
                          std::int64_t now) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  const Input& in = inputs_[c.input];
  const Wire& wire = wires_[out.wire];
  Slot packet = slot(in, in.head);
  const std::int64_t size = packet.size;
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  // The last flit goes when those before it have gone and it is here.
  const std::int64_t tail =
      std::max(now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0)),
               packet.head_at + packet.tail_after);
  out.free_at = tail + flit;
  out.last_vc = static_cast<std::uint8_t>(c.vc);
  const std::uint32_t bit =
      c.input - (plain ? routers_[r].first_input : first_candidate(r, output));
  out.pointer = static_cast<std::uint16_t>(bit + 1);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  if (plain || ways_ == 1 || in.port == no_port) {
    waiting(global)[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
  } else {
    const Way* const ways = &way_list_[std::size_t{c.input} * ways_];
    for (int i = 0; i < way_count_[c.input]; ++i) {
      waiting(routers_[r].first_output + ways[i].output)[bit / 64] &=
          ~(std::uint64_t{1} << (bit % 64));
    }
  }
  if (plain || in.port != no_port) crossbar_free(r, in.port) = out.free_at;
  Account& account = accounts_[std::size_t{global} * vcs_ + static_cast<std::uint32_t>(c.vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  if (!machine_.lookahead) account.free_at = out.free_at + wire.vc_alloc;
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  packet.route = c.route;
  depart<plain>(worker, r, c.input, now, tail, flit);
  if (out.kind == to_node) {
    deliver(worker, out, c.vc, packet);
    return;
  }
  if (plain || out.kind == to_router) {
    if (packet.hops < 255) ++packet.hops;
    ++crews_[static_cast<std::size_t>(worker)].counts.hops;
  }
  push(worker, out, c.vc, packet);
}

// The head has been granted: its space becomes a credit, and the next packet moves up.
template <bool plain>
inline void Engine::depart(int worker, std::uint32_t r, std::uint32_t input, std::int64_t start_at,
                           std::int64_t tail_at, std::int64_t flit_ps) {
  Input& in = inputs_[input];
  Slot& gone = slot(in, in.head);
  std::int64_t stamp = tail_at;
  if (machine_.release == Release::head) {
    // A successor that starts now ends no earlier than this much later; it never catches up.
    const std::uint32_t feeder = in.remote ? inputs_[in.feeder].feeder : in.feeder;
    const Wire& wire = wires_[outputs_[feeder].wire];
    const std::int64_t follow =
        wire.serialise_ps(std::max<std::int64_t>(gone.size - flit_bytes_, 0));
    stamp = std::max(start_at, tail_at - follow);
  }
  stamp += in.credit;
  gone.head_at = stamp;
  ++in.head;
  in.ready_at = tail_at + flit_ps;
  if (in.remote) {
    mail_credit(worker, in, stamp);
  } else {
    credit(worker, in, stamp);
  }
  if (in.head == in.tail) return;
  if (plain) {
    route_head<true>(worker, r, input, 0);
  } else {
    new_head(worker, input, r);
  }
}

}  // namespace weft::detail
