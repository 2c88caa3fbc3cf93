// SPDX-License-Identifier: Apache-2.0
// One hop: a head is routed; an output decides who goes, and into which virtual channel; what
// follows from it.
#include <algorithm>
#include <bit>

#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/view.hpp>

namespace weft::detail {

void Engine::visit_any(int worker, std::uint32_t r, Reach reach) {
  Router& router = routers_[r];
  router.wake_at = visiting;
  ++crews_[static_cast<std::size_t>(worker)].counts.visits;
  const std::int64_t* const next = &next_at_[router.first_next];
  const int cards = router.outputs - router.nodes;
  for (;;) {
    // A route that does not depend on time is computed as soon as we are here.
    if (!timed_) route_heads(worker, r, 0);
    const int actor = static_cast<int>(std::min_element(next, next + router.actors) - next);
    const std::int64_t now = next[actor];
    if (now >= reach.sure_ps) {
      router.wake_at = never_at;
      if (now < never_at) wake(worker, r, now);
      return;
    }
    const int output = actor - 1;
    if (actor == 0) {
      route_heads(worker, r, now);
    } else if (output < cards) {
      serve(worker, r, output, now, nullptr);
    } else if (output < router.outputs) {
      serve_card(worker, r, output, now);
    } else if (output < router.outputs + router.nodes) {
      ring_alarm(worker, r, output - router.outputs, now);
    } else {
      tell_news(worker, r, now);
    }
  }
}

void Engine::route_heads(int worker, std::uint32_t r, std::int64_t now) {
  std::int64_t later = never_at;
  std::uint64_t* const heads = fresh(r);
  for (std::uint32_t w = 0; w < words_; ++w) {
    for (std::uint64_t word = heads[w]; word != 0; word &= word - 1) {
      const std::uint32_t bit = w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      const std::uint32_t input = routers_[r].first_input + bit;
      if (timed_) {
        const std::int64_t at = route_at(inputs_[input]);
        if (at > now) {
          later = std::min(later, at);
          continue;
        }
      }
      heads[w] &= ~(std::uint64_t{1} << (bit % 64));
      route_head(worker, r, input, now);
    }
  }
  if (committing_) later = std::min(later, allocate_vcs(worker, r, now));
  next_of(r, 0) = later;
}

void Engine::route_head(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now) {
  if (!ask_ways(worker, r, input, now)) return;
  const Router& router = routers_[r];
  Input& in = inputs_[input];
  in.ready_at = ready_at(in);
  const std::uint32_t bit = input - router.first_input;
  if (committing_) {  // First a VC, then an output.
    seeking_[std::size_t{r} * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
    return;
  }
  const Choices& choices = crews_[static_cast<std::size_t>(worker)].choices;
  for (const Choice& choice : choices.all()) {
    const int output = output_of(r, slot(in, in.head), choice);
    const std::uint32_t global = router.first_output + static_cast<std::uint32_t>(output);
    waiting(global)[bit / 64] |= std::uint64_t{1} << (bit % 64);
    bring_forward(r, 1 + output, std::max(in.ready_at, outputs_[global].free_at));
  }
}

// Where the head may go, best first; false if nowhere.
bool Engine::ask_ways(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now) {
  Input& in = inputs_[input];
  Slot& packet = slot(in, in.head);
  Flight flight;
  flight.destination = graph_.router_of(NodeId(packet.node));
  flight.destination_node = NodeId(packet.node);
  flight.hops = static_cast<std::uint8_t>(packet.hops());
  flight.state = packet.route;
  if (facts_.asks_source) flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices& choices = crews_[static_cast<std::size_t>(worker)].choices;
  choices.clear();
  policy_.next(RouterId(ids_[r]), flight, View(*this, r, now), choices);
  if (choices.empty()) {
    no_way(worker, r, packet);
    return false;
  }
  WEFT_DCHECK(choices.count() <= facts_.choices_max);
  if (ways_ > 1) way_count_[input] = static_cast<std::uint8_t>(choices.count());
  for (int i = 0; i < choices.count(); ++i) {
    const Choice& choice = choices[i];
    const int output = output_of(r, packet, choice);
    const VcMask vcs = choice.vcs & all_vcs_;
    if (ways_ == 1) {
      in.vcs = vcs;
      packet.route = choice.state;
    } else {
      way_list_[std::size_t{input} * ways_ + static_cast<std::uint32_t>(i)] = {
          .output = static_cast<std::uint16_t>(output), .vcs = vcs, .route = choice.state};
    }
  }
  return true;
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

void Engine::serve(int worker, std::uint32_t r, int output, std::int64_t now, const Frame* below) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  std::int64_t& next = next_of(r, 1 + output);
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  const Candidate winner = machine_.arbitration == Arbitration::age
                               ? find_oldest(r, output, now)
                               : find_winner(worker, r, output, now, below);
  if (winner.vc < 0) {
    WEFT_DCHECK(winner.possible_at > now);
    next = winner.possible_at;
    return;
  }
  grant(worker, r, output, winner, now);
  const std::uint64_t* const mask = waiting(global);
  const bool more = std::any_of(mask, mask + words_, [](auto w) { return w != 0; });
  next = more ? out.free_at : never_at;
  // The packet's VC may be there for the next one.
  if (committing_) bring_forward(r, 0, now);
}

// Gives free VCs to the heads that have none; returns when it may be worth trying again.
std::int64_t Engine::allocate_vcs(int worker, std::uint32_t r, std::int64_t now) {
  std::int64_t again_at = never_at;
  Router& router = routers_[r];
  const std::uint32_t own = router.ports * vcs_;
  try_in_turn(&seeking_[std::size_t{r} * words_], router.vc_pointer, own, [&](std::uint32_t bit) {
    const std::uint32_t input = router.first_input + bit;
    if (inputs_[input].ready_at > now) {
      again_at = std::min(again_at, inputs_[input].ready_at);
    } else if (facts_.again ? ask_and_commit(worker, r, input, now, again_at)
                            : commit_head(r, input, now, again_at)) {
      seeking_[std::size_t{r} * words_ + bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
      router.vc_pointer = static_cast<std::uint16_t>(bit + 1);
    }
    return false;
  });
  return again_at;
}

// Its ways are the same as before, only their order may be another: no need to ask while none of
// them is open.
bool Engine::ask_and_commit(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now,
                            std::int64_t& possible_at) {
  const Input& in = inputs_[input];
  const Way* const ways = &way_list_[std::size_t{input} * ways_];
  bool open = false;
  for (int i = 0; i < way_count_[input] && !open; ++i) {
    const std::uint32_t global = routers_[r].first_output + ways[i].output;
    open = pick_vc(global, ways[i].vcs, slot(in, in.head).size(), now, possible_at) >= 0;
  }
  return open && ask_ways(worker, r, input, now) && commit_head(r, input, now, possible_at);
}

// The best way that has a free VC, whether or not its output is busy.
bool Engine::commit_head(std::uint32_t r, std::uint32_t input, std::int64_t now,
                         std::int64_t& possible_at) {
  const Input& in = inputs_[input];
  Way* const ways = &way_list_[std::size_t{input} * ways_];
  for (int i = 0; i < way_count_[input]; ++i) {
    const Way way = ways[i];
    const std::uint32_t global = routers_[r].first_output + way.output;
    const int vc = pick_vc(global, way.vcs, slot(in, in.head).size(), now, possible_at);
    if (vc < 0) continue;
    ways[0] = {.output = way.output, .vcs = VcMask{1} << vc, .route = way.route};
    way_count_[input] = 1;
    const std::uint32_t bit = input - routers_[r].first_input;
    waiting(global)[bit / 64] |= std::uint64_t{1} << (bit % 64);
    // Nobody else gets this VC until the packet has gone.
    vc_free_at_[std::size_t{global} * vcs_ + static_cast<std::uint32_t>(vc)] = never_at;
    if (news_ != nullptr) stir(r, way.output, now);
    bring_forward(r, 1 + way.output, std::max(now, outputs_[global].free_at));
    return true;
  }
  return false;
}

void Engine::stop_waiting(std::uint32_t r, std::uint32_t input) {
  const std::uint32_t bit = input - routers_[r].first_input;
  const Way* const ways = &way_list_[std::size_t{input} * ways_];
  for (int i = 0; i < way_count_[input]; ++i) {
    waiting(routers_[r].first_output + ways[i].output)[bit / 64] &=
        ~(std::uint64_t{1} << (bit % 64));
  }
}

// Calls attempt(bit) for the bits of the mask in the order in which they have a right to be served,
// until it returns true: round robin, and where through traffic goes first, bits from `own` on
// (packets of the own nodes) after the others.
template <typename Attempt>
void Engine::try_in_turn(const std::uint64_t* mask, std::uint32_t pointer, std::uint32_t own,
                         Attempt&& attempt) const {
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
  if (machine_.arbitration != Arbitration::through_first) own = end;
  const std::uint32_t low = std::min(pointer, own), high = std::max(pointer, own);
  static_cast<void>(scan(low, own) || scan(0, low) || scan(high, end) || scan(own, high));
}

template <typename Attempt>
void Engine::try_in_order(std::uint32_t r, int output, Attempt&& attempt) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  // Behind an output buffer all are equal.
  const std::uint32_t own = output < cable_count(r) ? routers_[r].ports * vcs_ : words_ * 64;
  try_in_turn(waiting(global), outputs_[global].pointer, own, attempt);
}

Engine::Candidate Engine::find_winner(int worker, std::uint32_t r, int output, std::int64_t now,
                                      const Frame* below) {
  const Frame here{output, below};
  std::uint64_t tried =
      0;  // Better outputs served on the way; modulo 64 will do, it only ends the search sooner.
  for (;;) {
    Candidate best;
    int better = -1;
    try_in_order(r, output, [&](std::uint32_t bit) {
      const Candidate c = weigh(r, output, bit, now);
      if (c.vc < 0) {
        best.possible_at = std::min(best.possible_at, c.possible_at);
        return false;
      }
      best = c;
      if (ways_ > 1 && !committing_) {
        better = better_output(r, c, output, now, &here);
        if (better >= 0 && ((tried >> (better % 64)) & 1) != 0) better = -1;
      }
      return true;
    });
    if (better < 0) return best;
    // The first in line would rather go elsewhere and could do so now: let that output decide
    // first.
    tried |= std::uint64_t{1} << (better % 64);
    serve(worker, r, better, now, &here);
  }
}

Engine::Candidate Engine::find_oldest(std::uint32_t r, int output, std::int64_t now) {
  Candidate best;
  std::int64_t oldest = never_at;
  std::uint32_t oldest_from = 0;
  try_in_order(r, output, [&](std::uint32_t bit) {
    const Candidate c = weigh(r, output, bit, now);
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

Engine::Candidate Engine::weigh(std::uint32_t r, int output, std::uint32_t bit, std::int64_t now) {
  Candidate c;
  c.input = first_candidate(r, output) + bit;
  const Input& in = inputs_[c.input];
  std::int64_t at = in.ready_at;
  if (in.port != no_port) at = std::max(at, crossbar_free(r, in.port));
  if (at > now) {
    c.possible_at = at;
    return c;
  }
  const Slot& packet = slot(in, in.head);
  c.vcs = in.vcs;
  c.route = packet.route;
  if (ways_ > 1 && in.port != no_port) {
    const Way* way = &way_list_[std::size_t{c.input} * ways_];
    while (way->output != output) ++way;
    c.vcs = way->vcs;
    c.route = way->route;
    if (committing_) {
      c.vc = std::countr_zero(c.vcs);
      return c;
    }
  }
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  if (std::has_single_bit(c.vcs)) {
    const int vc = std::countr_zero(c.vcs);
    const std::int64_t room = room_at(global, vc, packet.size(), now);
    c.possible_at = room;
    c.vc = room <= now ? vc : -1;
  } else {
    c.vc = pick_vc(global, c.vcs, packet.size(), now, c.possible_at);
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
    if (!busy && pick_vc(global, way->vcs, slot(in, in.head).size(), now, ignored) >= 0) {
      return way->output;
    }
  }
  return -1;
}

void Engine::grant(int worker, std::uint32_t r, int output, const Candidate& c, std::int64_t now) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  const Input& in = inputs_[c.input];
  const Wire& wire = wires_[out.wire];
  Slot packet = slot(in, in.head);
  const std::int64_t size = packet.size();
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  // The last flit goes when those before it have gone and it is here.
  const std::int64_t tail =
      std::max(now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0)),
               packet.head_at + packet.tail_after);
  out.free_at = tail + flit;
  out.last_vc = static_cast<std::uint8_t>(c.vc);
  const std::uint32_t bit = c.input - first_candidate(r, output);
  out.pointer = static_cast<std::uint16_t>(bit + 1);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  if (ways_ == 1 || in.port == no_port) {
    waiting(global)[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
  } else {
    stop_waiting(r, c.input);
  }
  if (in.port != no_port) crossbar_free(r, in.port) = out.free_at;
  const std::size_t channel = std::size_t{global} * vcs_ + static_cast<std::uint32_t>(c.vc);
  Account& account = accounts_[channel];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  if (held_) vc_free_at_[channel] = machine_.lookahead ? 0 : out.free_at + wire.vc_alloc;
  if (news_ != nullptr) stir(r, output, now);
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  packet.route = c.route;
  depart(worker, r, c.input, {.start_at = now, .tail_at = tail, .free_at = out.free_at});
  if (out.kind == to_node) {
    const std::int64_t arrived = packet.head_at + packet.tail_after;
    note_credit(out.target + static_cast<std::uint32_t>(c.vc), packet, arrived);
    receive(worker, packet, arrived);
    return;
  }
  if (out.kind == to_router) packet.count_hop();
  push(worker, out, c.vc, packet);
}

// The head has been granted: its space becomes a credit, and the next packet moves up.
void Engine::depart(int worker, std::uint32_t r, std::uint32_t input, const Passage& passage) {
  Input& in = inputs_[input];
  Slot& gone = slot(in, in.head);
  const std::int64_t stamp = stamp_at(in, gone.size(), passage.start_at, passage.tail_at);
  gone.head_at = stamp;
  gone.route = in.departed += gone.size();
  ++in.head;
  in.ready_at = passage.free_at;
  if (in.remote) {
    mail_credit(worker, in, stamp);
  } else {
    credit(worker, in, stamp);
  }
  if (in.head == in.tail) return;
  new_head(worker, input, r);
}

}  // namespace weft::detail
