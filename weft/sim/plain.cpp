// SPDX-License-Identifier: Apache-2.0
// The same decisions as hop.cpp for the plain case: one way per head, masks of one word, no output
// buffers, a policy that does not look, round robin with or without through-first. Most simulations
// are plain, and this is where they spend their time: nearly all of it in executing instructions,
// not in waiting for memory, so few of them is what counts. The property tests hold both to the
// same oracle.
#include <algorithm>
#include <bit>

#include <weft/sim/flow.hpp>

namespace weft::detail {

// One visit of one router. It holds what the engine knows about this router, found once, and what
// the compiler would otherwise load again after every store; all functions become one, and the
// object lives in registers. Nothing that is not inlined may see `this`.
//
// fixed_vcs: how many VCs there are, where that is known to the compiler; else 0.
// even: all wires have the same rate, in whole ps per byte, and VC allocation looks ahead.
template <std::uint32_t fixed_vcs, bool even>
class Engine::PlainVisit {
 public:
  [[gnu::always_inline]] PlainVisit(Engine& engine, int worker, std::uint32_t r)
      : engine_(engine),
        router_(engine.routers_[r]),
        outputs_(&engine.outputs_[router_.first_output]),
        accounts_(&engine.accounts_[std::size_t{router_.first_output} * engine.vcs_]),
        inputs_(&engine.inputs_[router_.first_input]),
        slots_(&engine.slots_[std::size_t{router_.first_input} << engine.ring_bits_]),
        next_(&engine.next_at_[router_.first_next]),
        crossbar_(&engine.crossbar_free_at_[router_.first_port]),
        through_(router_.through),
        worker_(worker),
        r_(r),
        id_(engine.ids_[r]),
        vcs_(fixed_vcs != 0 ? fixed_vcs : engine.vcs_),
        ports_(router_.ports),
        ring_bits_(engine.ring_bits_),
        ring_mask_(engine.ring_mask_) {}

  // All that happens before reach.sure_ps, and on to reach.far_ps while no credit matters that may
  // still be on its way.
  [[gnu::always_inline]] void run(Reach reach) {
    router_.wake_at = visiting;
    const std::uint32_t cards = ports_ + router_.nodes;
    for (;;) {
      if (router_.fresh != 0) route_fresh();
      std::int64_t now = never_at;
      std::uint32_t actor = 0;
      for (std::uint64_t set = router_.active; set != 0; set &= set - 1) {
        const auto a = static_cast<std::uint32_t>(std::countr_zero(set));
        const std::int64_t at = next_[a];
        // Who is next is as good as random: select, do not branch.
        const bool sooner = __builtin_expect_with_probability(at < now, 1, 0.5) != 0;
        actor = sooner ? a : actor;
        now = sooner ? at : now;
      }
      const bool ahead = now >= reach.sure_ps;
      if (ahead && (now >= reach.far_ps || router_.starved != 0)) {
        end_at(now);
        return;
      }
      const std::uint32_t output = actor - 1;
      if (output < cards) {
        if (!serve(output, now, ahead)) {
          end_at(now);
          return;
        }
      } else if (output < router_.outputs) {
        serve_card(output, now);
      } else {
        engine_.ring_alarm(worker_, r_, static_cast<int>(output - router_.outputs), now);
      }
      if (next_[actor] == never_at) router_.active &= ~(std::uint64_t{1} << actor);
    }
  }

 private:
  void end_at(std::int64_t now) {
    router_.wake_at = never_at;
    if (now < never_at) engine_.wake(worker_, r_, now);
  }

  Slot& head(std::uint32_t bit, std::uint32_t position) {
    return slots_[(std::size_t{bit} << ring_bits_) + (position & ring_mask_)];
  }
  Account& account(std::uint32_t output, std::uint32_t vc) { return accounts_[output * vcs_ + vc]; }
  std::int64_t& crossbar(std::uint32_t bit) {
    return crossbar_[fixed_vcs != 0 ? bit / vcs_ : inputs_[bit].port];
  }

  void route_fresh() {
    for (std::uint64_t fresh = std::exchange(router_.fresh, 0); fresh != 0; fresh &= fresh - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(fresh));
      route(bit, inputs_[bit].ready_at);
    }
  }

  // The head of `bit` gets its route; the one before it has left at `left_at`.
  [[gnu::always_inline]] void route(std::uint32_t bit, std::int64_t left_at) {
    Input& in = inputs_[bit];
    Slot& packet = head(bit, in.head);
    std::uint32_t output = ports_;
    VcMask vcs = engine_.all_vcs_;
    if (engine_.dor_ != nullptr) {
      const auto target = static_cast<std::uint32_t>(packet.route >> 32);
      if (target != id_) {
        const Choice choice = engine_.dor_->straight(RouterId(id_), RouterId(target), packet.route,
                                                     packet.hops() == 0);
        output = choice.port;
        vcs = choice.vcs;
        packet.route = (std::uint64_t{target} << 32) | choice.state;
        packet.count_hop();
      } else {
        output += static_cast<std::uint32_t>(engine_.graph_.local_index(NodeId(packet.node)));
      }
    } else if (!engine_.ask_way(worker_, r_, packet, output, vcs)) {
      return;
    }
    const std::int64_t ready =
        std::max(packet.head_at + engine_.early_ps_, left_at) + (even ? 0 : engine_.late_ps_);
    in.ready_at = ready;
    in.vcs = vcs;
    Output& out = outputs_[output];
    out.waiting |= std::uint64_t{1} << bit;
    std::int64_t& next = next_[1 + output];
    next = std::min(next, std::max(ready, out.free_at));
    router_.active |= std::uint64_t{2} << output;
  }

  // One output decides who goes; false: that hangs on a credit which may be on its way.
  [[gnu::always_inline]] bool serve(std::uint32_t output, std::int64_t now, bool ahead) {
    const Output& out = outputs_[output];
    WEFT_DCHECK(out.free_at <= now);  // All that sets its time sees to that.
    const std::uint64_t from_pointer = ~std::uint64_t{0} << (out.pointer % 64);
    std::int64_t possible_at = never_at;
    for (std::uint64_t left = out.waiting; left != 0;) {
      std::uint64_t set = (left & through_) != 0 ? left & through_ : left;
      set = (set & from_pointer) != 0 ? set & from_pointer : set;
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(set));
      left &= ~(set & (0 - set));
      const Input& in = inputs_[bit];
      std::int64_t at = std::max(in.ready_at, crossbar(bit));
      if (at <= now) {
        const Pick pick = pick_vc(output, in.vcs, head(bit, in.head).size(), now, ahead);
        if (pick.vc >= 0) {
          grant(output, bit, static_cast<std::uint32_t>(pick.vc), now);
          return true;
        }
        if (pick.possible_at == unknown_at) return false;
        at = pick.possible_at;
      }
      possible_at = std::min(possible_at, at);
    }
    next_[1 + output] = possible_at;
    return true;
  }

  // The VC to go to; -1 if there is no room, and then when there may be.
  struct Pick {
    std::int64_t possible_at;
    int vc;
  };
  static constexpr std::int64_t unknown_at = INT64_MIN;  // Not yet to be told.
  [[gnu::always_inline]] Pick pick_vc(std::uint32_t output, VcMask vcs, std::int64_t size,
                                      std::int64_t now, bool ahead) {
    if (even && output >= ports_) {
      const int vc = pick_near(output, vcs, size, now);
      if (vc >= 0) [[likely]]
        return {now, vc};
    }
    if (even && (vcs & (vcs - 1)) == 0) {
      const int vc = std::countr_zero(vcs);
      const Account& there = account(output, static_cast<std::uint32_t>(vc));
      if (has_room(there, outputs_[output], size)) [[likely]]
        return {now, vc};
    }
    if (ahead && output < ports_)
      return look_ahead(engine_, router_.first_output + output, vcs, size, now);
    return look_closer(engine_, router_.first_output + output, vcs, size, now);
  }
  // What is known of a neighbour's buffer may not be all: it has room, or nobody knows.
  [[gnu::cold, gnu::noinline]] static Pick look_ahead(Engine& engine, std::uint32_t output,
                                                      VcMask vcs, std::int64_t size,
                                                      std::int64_t now) {
    if ((vcs & (vcs - 1)) != 0) return {unknown_at, -1};
    const auto vc = static_cast<std::uint32_t>(std::countr_zero(vcs));
    if (engine.vc_free_at(output, static_cast<int>(vc)) > now) return {unknown_at, -1};
    const Output& out = engine.outputs_[output];
    Account& there = engine.accounts_[std::size_t{output} * engine.vcs_ + vc];
    engine.reclaim(there, engine.inputs_[out.target + vc], now);
    if (!has_room(there, out, size)) return {unknown_at, -1};
    return {now, static_cast<int>(vc)};
  }
  [[gnu::cold, gnu::noinline]] static Pick look_closer(Engine& engine, std::uint32_t output,
                                                       VcMask vcs, std::int64_t size,
                                                       std::int64_t now) {
    Pick pick{never_at, -1};
    if ((vcs & (vcs - 1)) != 0) {
      pick.vc = engine.pick_vc(output, vcs, size, now, pick.possible_at);
    } else {
      pick.possible_at = engine.room_at(output, std::countr_zero(vcs), size, now);
      if (pick.possible_at <= now) pick.vc = std::countr_zero(vcs);
    }
    return pick;
  }

  // Where the rings of a router begin: not all in the same place, for that would be the same place
  // in the cache.
  std::uint16_t home(std::uint32_t router) const {
    return static_cast<std::uint16_t>(((router ^ (router >> 4)) << 1) & ring_mask_);
  }

  // As Engine::pick_vc() for a buffer in this router, of a node or of a card, that has room; else
  // -1. Its slots are at hand, so credits are counted as they come.
  [[gnu::always_inline]] int pick_near(std::uint32_t output, VcMask vcs, std::int64_t size,
                                       std::int64_t now) {
    const Output& out = outputs_[output];
    Input* const targets = &engine_.inputs_[out.target];
    Slot* const slots = &engine_.slots_[0];
    int best = -1;
    auto most = static_cast<std::int32_t>(size) - 1;
    std::uint32_t vc = out.last_vc;
    for (std::uint32_t v = 0; v < vcs_; ++v) {
      vc = fixed_vcs == 2 ? vc ^ 1 : vc + 1 < vcs_ ? vc + 1 : 0;
      if (((vcs >> vc) & 1) == 0) continue;
      Account& there = account(output, vc);
      const std::uint16_t gone = targets[vc].head;
      std::uint16_t i = there.reclaim;
      std::uint32_t departed = there.departed;
      while (i != gone) {
        const Slot& slot = slots[there.ring + (i & ring_mask_)];
        if (slot.head_at > now) break;
        departed = static_cast<std::uint32_t>(slot.route);
        ++i;
      }
      const std::int32_t room = there.room + static_cast<std::int32_t>(departed - there.departed);
      // Nothing is left of all that was there: begin again with the slot that is in the cache.
      if (i == there.pushed) i = there.pushed = targets[vc].head = targets[vc].tail = home(r_);
      there.room = room;
      there.departed = departed;
      there.reclaim = i;
      const bool fits = static_cast<std::uint16_t>(there.pushed - i) < out.packets_max;
      const bool better = __builtin_expect_with_probability((room > most) & fits, 1, 0.5) != 0;
      most = better ? room : most;
      best = better ? static_cast<int>(vc) : best;
    }
    return best;
  }

  // A card makes a packet of the first message that it has.
  [[gnu::always_inline]] void serve_card(std::uint32_t output, std::int64_t now) {
    if (!even) {
      engine_.serve_card(worker_, r_, static_cast<int>(output), now);
      return;
    }
    Output& out = outputs_[output];
    const std::uint32_t local = output - ports_ - router_.nodes;
    Card& card = engine_.cards_[router_.first_card + local];
    const std::uint32_t id = card.first;
    // It may have waited for two VCs and been done with one of them.
    if (id == no_message) {
      next_[1 + output] = never_at;
      return;
    }
    Message& message = (*engine_.messages_)[id];
    const std::int64_t mtu = engine_.machine_.mtu.count;
    const std::int64_t unsent = message.unsent;
    const std::int64_t payload = std::min(unsent, mtu);
    const std::int64_t size = std::max<std::int64_t>(payload + engine_.header_bytes_, 1);
    const VcMask vcs = engine_.card_vcs(message.to);
    const int picked = pick_near(output, vcs, size, now);
    if (picked < 0) {
      engine_.serve_card(worker_, r_, static_cast<int>(output), now);
      return;
    }
    const auto vc = static_cast<std::uint32_t>(picked);
    const std::int64_t flit_size = std::min(size, engine_.flit_bytes_);
    const std::int64_t follow = (size - flit_size) * engine_.byte_ps_;
    const std::int64_t sent_at = now + follow + flit_size * engine_.byte_ps_;
    const std::int64_t free_at = sent_at + message.gap;
    Account& there = account(output, vc);
    Slot& packet = engine_.slots_[there.ring + (there.pushed & ring_mask_)];
    packet = {.head_at = now + out.delay,
              .tail_after = static_cast<std::uint32_t>(follow),
              .node = message.to,
              .route = engine_.packet_state(card, message.to),
              .message = id,
              .packed = Slot::pack(size, (message.size - unsent) / mtu)};
    if (unsent == message.size) message.entered_at = now;
    message.unsent = unsent - payload;
    out.free_at = free_at;
    out.last_vc = static_cast<std::uint8_t>(vc);
    ++out.packets;
    out.bytes += static_cast<std::uint64_t>(size);
    there.room -= static_cast<std::int32_t>(size);
    ++there.pushed;
    ++engine_.crews_[static_cast<std::size_t>(worker_)].counts.packets_sent;
    next_[1 + output] = free_at;
    const std::uint32_t bit = (ports_ + local) * vcs_ + vc;
    Input& in = inputs_[bit];
    const bool empty = in.head == in.tail;
    ++in.tail;
    if (empty) route(bit, in.ready_at);
    if (unsent == payload) {
      engine_.end_message(worker_, card, sent_at);
      if (card.first == no_message) next_[1 + output] = never_at;
    }
  }

  // The head of `bit` goes through `output` now.
  [[gnu::always_inline]] void grant(std::uint32_t output, std::uint32_t bit, std::uint32_t vc,
                                    std::int64_t now) {
    Output& out = outputs_[output];
    Input& in = inputs_[bit];
    Slot& left = head(bit, in.head);
    const std::int64_t size = left.size();
    const std::int64_t flit_size = std::min(size, engine_.flit_bytes_);
    const Wire& wire = engine_.wires_[out.wire];
    const std::int64_t flit = even ? flit_size * engine_.byte_ps_ : wire.serialise_ps(flit_size);
    const std::int64_t follow =
        even ? (size - flit_size) * engine_.byte_ps_ : wire.serialise_ps(size - flit_size);
    // The last flit goes when those before it have gone and it is here.
    const std::int64_t tail = std::max(now + follow, left.head_at + left.tail_after);
    const std::int64_t free_at = tail + flit;
    const std::uint64_t waiting = out.waiting & ~(std::uint64_t{1} << bit);
    out.free_at = free_at;
    out.waiting = waiting;
    ++out.packets;
    out.bytes += static_cast<std::uint64_t>(size);
    out.last_vc = static_cast<std::uint8_t>(vc);
    out.pointer = static_cast<std::uint16_t>(bit + 1);
    next_[1 + output] = waiting != 0 ? free_at : never_at;
    crossbar(bit) = free_at;
    if (!even && engine_.held_) {
      engine_.vc_free_at_[std::size_t{router_.first_output + output} * vcs_ + vc] =
          free_at + wire.vc_alloc;
    }
    Account& there = account(output, vc);
    there.room -= static_cast<std::int32_t>(size);
    const std::int64_t head_at = now + out.delay;
    if (output < ports_) {
      push(out, vc, there, left, {now, head_at, tail});
    } else {
      // The node takes it at once, so all that is left of it is a credit.
      engine_.receive(worker_, left, head_at + (tail - now));
      engine_.note_credit(out.target + vc, left, head_at + (tail - now));
      ++there.pushed;
    }
    // With one rate, stamp_at() comes to this.
    const std::int64_t held = engine_.machine_.release == Release::tail ? 0 : follow;
    const std::int64_t stamp =
        even ? tail - held + in.credit : engine_.stamp_at(in, size, now, tail);
    left.head_at = stamp;
    left.route = in.departed += static_cast<std::uint32_t>(size);
    in.ready_at = free_at;
    __builtin_prefetch(&head(bit, in.head + 3u), 1);
    ++in.head;
    if (in.remote || in.starved) tell_feeder(in, stamp);
    if (in.head != in.tail) route(bit, free_at);
  }

  // A buffer that is empty, and all of whose credits are back, begins again with its first slot. In
  // light traffic one line of each ring is then all that is ever used.
  void rewind(Account& there, Input& in, std::uint16_t first, std::int64_t now) {
    if (in.ready_at + in.credit > now) return;  // No credit is later.
    there.room += static_cast<std::int32_t>(in.departed - there.departed);
    there.departed = in.departed;
    there.pushed = there.reclaim = in.head = in.tail = first;
  }

  void tell_feeder(Input& in, std::int64_t stamp) {
    if (in.remote) {
      engine_.mail_credit(worker_, in, stamp);
    } else {
      engine_.credit(worker_, in, stamp);
    }
  }

  // Into the buffer at the other end.
  struct Passage {
    std::int64_t now, head_at, tail_at;
  };
  [[gnu::always_inline]] void push(const Output& out, std::uint32_t vc, Account& there,
                                   const Slot& left, const Passage& passage) {
    Input& in = engine_.inputs_[out.target + vc];
    const bool empty = in.head == in.tail;
    if (empty && !out.remote) rewind(there, in, home(out.router), passage.now);
    // Copied, then overwritten: the slot is cold, and whoever reads from it waits (22 % of the time
    // of permutation/4096/packets:1 when the hops were counted here).
    Slot& packet = engine_.slots_[there.ring + (there.pushed++ & ring_mask_)];
    packet = left;
    packet.head_at = passage.head_at;
    packet.tail_after = static_cast<std::uint32_t>(passage.tail_at - passage.now);
    if (out.remote) {
      engine_.mail_packet(worker_, out, vc, packet);
      return;
    }
    ++in.tail;
    if (!empty) return;
    Router& peer = engine_.routers_[out.router];
    peer.fresh |= std::uint64_t{1} << (out.target + vc - peer.first_input);
    engine_.wake(worker_, out.router, engine_.ready_at(in, passage.head_at));
  }

  Engine& engine_;
  Router& router_;
  Output* const outputs_;
  Account* const accounts_;  // By output and VC.
  Input* const inputs_;
  Slot* const slots_;             // Of input 0; each has a ring.
  std::int64_t* const next_;      // By actor.
  std::int64_t* const crossbar_;  // By input port.
  const std::uint64_t through_;
  const int worker_;
  const std::uint32_t r_, id_, vcs_, ports_, ring_bits_, ring_mask_;
};

template <std::uint32_t fixed_vcs, bool even>
void Engine::visit_plain(int worker, std::uint32_t r, Reach reach) {
  ++crews_[static_cast<std::size_t>(worker)].counts.visits;
  PlainVisit<fixed_vcs, even>(*this, worker, r).run(reach);
}
template void Engine::visit_plain<0, false>(int, std::uint32_t, Reach);
template void Engine::visit_plain<0, true>(int, std::uint32_t, Reach);
template void Engine::visit_plain<2, true>(int, std::uint32_t, Reach);

}  // namespace weft::detail
