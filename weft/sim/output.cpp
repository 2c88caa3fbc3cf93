// SPDX-License-Identifier: Apache-2.0
// One decision of one output: who goes, into which virtual channel, and what follows from it.
#include <algorithm>
#include <bit>

#include <weft/sim/engine.hpp>

namespace weft::detail {

// Input of the output's candidate 0.
std::uint32_t Engine::first_candidate(std::uint32_t r, int output) const {
  const int ends = cable_count(r);
  const std::uint32_t base = routers_[r].first_input;
  if (output < ends) return base;
  return base + static_cast<std::uint32_t>(output) * vcs_;  // Buffers are numbered as their cables.
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
  const bool more = std::any_of(mask, mask + words_, [](std::uint64_t word) { return word != 0; });
  next = more ? out.free_at : never_at;
}

// Calls attempt(bit) for the candidates in the order in which they have a right to the output,
// until it returns true.
template <typename Attempt>
bool Engine::try_in_order(std::uint32_t r, int output, Attempt&& attempt) {
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  const std::uint64_t* const mask = waiting(global);
  const std::uint32_t pointer = outputs_[global].pointer;
  const std::uint32_t own = routers_[r].ports * vcs_;  // From here on: packets of the own nodes.
  const bool through_first = machine_.arbitration == Arbitration::through_first;
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
  if (!through_first || output >= cable_count(r)) return scan(pointer, end) || scan(0, pointer);
  const std::uint32_t low = std::min(pointer, own), high = std::max(pointer, own);
  return scan(low, own) || scan(0, low) || scan(high, end) || scan(own, high);
}

Engine::Candidate Engine::find_winner(int worker, std::uint32_t r, int output, std::int64_t now,
                                      const Frame* below) {
  const Frame here{output, below};
  std::uint64_t tried = 0;  // Better outputs that were served on the way (numbers modulo 64 will
                            // do: each is tried at most once).
  for (;;) {
    Candidate best;
    int better = -1;
    try_in_order(r, output, [&](std::uint32_t bit) {
      const Candidate c = weigh(r, output, bit, now);
      if (c.vc < 0) {
        best.possible_at = std::min(best.possible_at, c.possible_at);
        return false;
      }
      if (ways_ > 1) {
        better = better_output(r, c, now, &here);
        if (better >= 0 && ((tried >> (better % 64)) & 1) != 0) better = -1;
      }
      best = c;
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

std::int64_t& Engine::crossbar_free(std::uint32_t r, std::uint16_t port) {
  std::int64_t* const first =
      &crossbar_free_at_[(std::size_t{first_in_port_[r]} + port) * crossbar_ways_];
  return crossbar_ways_ == 1 ? *first : *std::min_element(first, first + crossbar_ways_);
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
  c.way = &way_list_[std::size_t{c.input} * ways_];
  while (c.way->output != output) ++c.way;
  const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(output);
  c.vc = pick_vc(global, c.way->vcs, slot(in, in.head).size, now, c.possible_at);
  return c;
}

// An output that this candidate likes better than the one at hand and could take right now; -1 for
// none.
int Engine::better_output(std::uint32_t r, const Candidate& c, std::int64_t now,
                          const Frame* below) {
  const Input& in = inputs_[c.input];
  for (const Way* way = &way_list_[std::size_t{c.input} * ways_]; way != c.way; ++way) {
    const std::uint32_t global = routers_[r].first_output + way->output;
    if (outputs_[global].free_at > now) continue;
    bool busy = false;
    for (const Frame* f = below; f != nullptr; f = f->below) busy |= f->output == way->output;
    std::int64_t ignored = never_at;
    if (!busy && pick_vc(global, way->vcs, slot(in, in.head).size, now, ignored) >= 0)
      return way->output;
  }
  return -1;
}

// The VC with the most room, in turn among equals; -1 when none has enough, and then when one may
// have.
int Engine::pick_vc(std::uint32_t output, VcMask vcs, std::int64_t size, std::int64_t now,
                    std::int64_t& possible_at) {
  if (std::has_single_bit(vcs)) {
    const int vc = std::countr_zero(vcs);
    const std::int64_t at = room_at(output, vc, size, now);
    if (at <= now) return vc;
    possible_at = std::min(possible_at, at);
    return -1;
  }
  const int count = static_cast<int>(vcs_);
  int best = -1;
  std::int32_t most = -1;
  for (int i = 1; i <= count; ++i) {
    const int vc = (outputs_[output].last_vc + i) % count;
    if (((vcs >> vc) & 1) == 0) continue;
    // The accounts are compared, so they must be up to date.
    reclaim(accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)],
            inputs_[outputs_[output].target + static_cast<std::uint32_t>(vc)], now);
    const std::int64_t at = room_at(output, vc, size, now);
    if (at > now) {
      possible_at = std::min(possible_at, at);
    } else if (const std::int32_t room =
                   accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)].room;
               room > most) {
      most = room;
      best = vc;
    }
  }
  return best;
}

void Engine::reclaim(Account& account, const Input& in, std::int64_t now) {
  while (account.reclaim != in.head) {
    const Slot& gone = slot(in, account.reclaim);
    if (gone.head_at > now) return;
    account.room += static_cast<std::int32_t>(gone.size);
    ++account.reclaim;
  }
}

// The earliest time, as far as is known, at which the VC takes a packet of this size; `now` or
// before when it does already.
std::int64_t Engine::room_at(std::uint32_t output, int vc, std::int64_t size, std::int64_t now) {
  Account& account = accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)];
  if (account.free_at > now) return account.free_at;
  const Output& out = outputs_[output];
  Input& in = inputs_[out.target + static_cast<std::uint32_t>(vc)];
  const int packets = out.kind == to_buffer ? output_buffer_packets_ : buffer_packets_;
  const auto fits = [&](std::int64_t room, std::uint16_t reclaimed) {
    return room >= size && static_cast<std::uint16_t>(account.pushed - reclaimed) < packets;
  };
  if (fits(account.room, account.reclaim)) return now;
  reclaim(account, in, now);
  if (fits(account.room, account.reclaim)) return now;
  std::int64_t room = account.room;
  for (std::uint16_t i = account.reclaim; i != in.head;) {
    const Slot& gone = slot(in, i++);
    room += gone.size;
    if (fits(room, i)) return gone.head_at;
  }
  in.starved = 1;
  return never_at;
}

void Engine::leave_queue(std::uint32_t r, std::uint32_t input) {
  const Way* const ways = &way_list_[std::size_t{input} * ways_];
  for (int i = 0; i < way_count_[input]; ++i) {
    const std::uint32_t bit = input - first_candidate(r, ways[i].output);
    waiting(routers_[r].first_output + ways[i].output)[bit / 64] &=
        ~(std::uint64_t{1} << (bit % 64));
  }
}

void Engine::grant(int worker, std::uint32_t r, int output, const Candidate& c, std::int64_t now) {
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
  const std::uint32_t bit = c.input - first_candidate(r, output);
  out.pointer = static_cast<std::uint16_t>(bit + 1);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  leave_queue(r, c.input);
  if (in.port != no_port) crossbar_free(r, in.port) = out.free_at;
  Account& account = accounts_[std::size_t{global} * vcs_ + static_cast<std::uint32_t>(c.vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  if (!machine_.lookahead) account.free_at = out.free_at + wire.vc_alloc;
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  packet.route = c.way->route;
  depart(worker, r, c.input, now, tail, flit);
  if (out.kind == to_node) {
    deliver(worker, out, c.vc, packet);
    return;
  }
  if (out.kind == to_router) {
    if (packet.hops < 255) ++packet.hops;
    ++crews_[static_cast<std::size_t>(worker)].counts.hops;
  }
  push(worker, out, c.vc, packet);
}

// The head has been granted: its space becomes a credit, and the next packet moves up.
void Engine::depart(int worker, std::uint32_t r, std::uint32_t input, std::int64_t start_at,
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
    Crew& crew = crews_[static_cast<std::size_t>(worker)];
    const int owner = worker_of(router_of_output_[inputs_[in.feeder].feeder]);
    crew.mail[crew.side][static_cast<std::size_t>(owner)].credits.push_back({in.feeder, stamp});
    crew.mailed_at = std::min(crew.mailed_at, stamp);
  } else {
    credit(worker, in, stamp);
  }
  if (in.head != in.tail) new_head(worker, input, r);
}

void Engine::credit(int worker, Input& in, std::int64_t stamp_at) {
  if (!in.starved) return;
  in.starved = 0;
  const std::uint32_t r = router_of_output_[in.feeder];
  const auto output = static_cast<int>(in.feeder - routers_[r].first_output);
  bring_forward(r, 1 + output, std::max(stamp_at, outputs_[in.feeder].free_at));
  windows_->wake(worker, r, std::max(stamp_at, outputs_[in.feeder].free_at));
}

void Engine::push(int worker, Output& out, int vc, const Slot& packet) {
  const std::uint32_t target = out.target + static_cast<std::uint32_t>(vc);
  if (!out.remote) {
    arrive(worker, target, out.router, packet);
    return;
  }
  Input& ghost = inputs_[target];
  slot(ghost, ghost.tail++) = packet;
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.mail[crew.side][out.worker].packets.push_back(
      {out.mail + static_cast<std::uint32_t>(vc), out.router, packet});
  crew.mailed_at = std::min(crew.mailed_at, packet.head_at);
}

// The node takes what comes, so its buffer's credit is known at once.
void Engine::deliver(int worker, Output& out, int vc, const Slot& packet) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  Input& in = inputs_[out.target + static_cast<std::uint32_t>(vc)];
  Slot& gone = slot(in, in.tail++);
  ++in.head;
  const std::int64_t tail = packet.head_at + packet.tail_after;
  gone.head_at = tail + in.credit;
  gone.size = packet.size;
  ++crew.counts.packets_delivered;
  Message& message = (*messages_)[packet.message];
  const bool ordered = !facts_.in_order || packet.sequence == (message.received & 63);
  message.missing -= std::max<std::int64_t>(packet.size - header_bytes_, 0);
  ++message.received;
  WEFT_CHECK(ordered && message.missing >= 0 && message.to == packet.node);
  if (message.missing > 0) return;
  Delivery d;
  d.from = NodeId(message.from);
  d.to = NodeId(message.to);
  d.size = Bytes{message.size};
  d.born = Time::ps(message.born_at);
  d.entered = Time::ps(message.entered_at);
  d.arrived = Time::ps(tail) + machine_.eject_delay;
  d.hops = static_cast<int>(packet.hops);
  d.cookie = message.cookie;
  const int owner = MessagePools::owner(packet.message);
  if (owner == worker) {
    messages_->free(packet.message);
  } else {
    crew.mail[crew.side][static_cast<std::size_t>(owner)].messages.push_back(packet.message);
  }
  host_.delivered(worker, d);
}

}  // namespace weft::detail
