// SPDX-License-Identifier: Apache-2.0
// The same decisions as hop.cpp for the plain case: one way per head, masks of one word, no output
// buffers, a policy that does not look, round robin with or without through-first. Most simulations
// are plain, and this is where they spend their time. The property tests hold both to the same
// oracle.
//
// Here: the router and its inputs. plain.cpp: visits, and outputs to other routers.
// plain_ends.hpp: outputs to nodes, and cards.
#pragma once

#include <algorithm>
#include <bit>

#include <weft/simulate/router/flow.hpp>

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
        through_(engine.machine_.arbitration == Arbitration::through_first
                     ? ~(~std::uint64_t{0} << (router_.ports * engine.vcs_ % 64))
                     : 0),
        worker_(worker),
        r_(r),
        vcs_(fixed_vcs != 0 ? fixed_vcs : engine.vcs_),
        ports_(router_.ports),
        ring_bits_(engine.ring_bits_),
        ring_mask_(engine.ring_mask_),
        home_(home(r)) {}

  // All that happens before reach.sure_ps, and on to reach.far_ps while no credit matters that may
  // still be on its way.
  [[gnu::always_inline]] inline void run(Reach reach);

 private:
  Slot* ring(std::uint32_t bit) { return slots_ + (std::size_t{bit} << ring_bits_); }
  Slot& head(std::uint32_t bit) { return ring(bit)[inputs_[bit].head & ring_mask_]; }
  // Field by field: copied as a whole it would go through the stack, in loads that are wider than
  // the stores before them.
  [[gnu::always_inline]] Slot read_head(std::uint32_t bit) {
    const Slot& slot = head(bit);
    return {.head_at = slot.head_at,
            .tail_after = slot.tail_after,
            .node = slot.node,
            .route = slot.route,
            .message = slot.message,
            .packed = slot.packed};
  }
  Account& account(std::uint32_t output, std::uint32_t vc) { return accounts_[output * vcs_ + vc]; }
  std::int64_t& crossbar(std::uint32_t bit) {
    return crossbar_[fixed_vcs != 0 ? bit / vcs_ : inputs_[bit].port];
  }
  // Where the rings of a router begin: not all in the same place, for that would be the same place
  // in the cache.
  std::uint16_t home(std::uint32_t router) const {
    return static_cast<std::uint16_t>(((router ^ (router >> 4)) << 1) & ring_mask_);
  }
  // A packet that arrives at `head_at` in a buffer from which the one before leaves at `left_at`.
  std::int64_t ready_at(std::int64_t head_at, std::int64_t left_at) const {
    return std::max(head_at + engine_.early_ps_, left_at) + (even ? 0 : engine_.late_ps_);
  }

  // An output, card or alarm has nothing to do until something comes to it.
  void rest(std::uint32_t output) {
    next_[1 + output] = never_at;
    router_.active &= ~(std::uint64_t{2} << output);
  }
  void put_off(std::uint32_t output, std::int64_t until) {
    if (until == never_at) {
      rest(output);
    } else {
      next_[1 + output] = until;
    }
  }

  // The candidate that is next in turn.
  std::uint32_t first_of(std::uint64_t candidates, const Output& out) const {
    const std::uint64_t through = candidates & through_;
    const std::uint64_t set = through != 0 ? through : candidates;
    const std::uint64_t later = set & (~std::uint64_t{0} << (out.pointer % 64));
    return static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : set));
  }

  // The head of `bit` gets its route; the one before it has left at `left_at`.
  [[gnu::always_inline]] void route(std::uint32_t bit, std::int64_t left_at) {
    Input& in = inputs_[bit];
    Slot& packet = head(bit);
    std::uint32_t output = ports_;
    VcMask vcs = engine_.all_vcs_;
    if (engine_.dor_ != nullptr) [[likely]] {
      const std::uint64_t here = engine_.dor_->places().word(RouterId(engine_.ids_[r_]));
      const std::uint64_t target = packet.route >> 32;
      if (target != here) {
        const Choice choice =
            engine_.dor_->straight(here, target, packet.route, packet.hops() == 0);
        output = choice.port;
        vcs = choice.vcs;
        packet.route = (target << 32) | choice.state;
      } else {
        output += static_cast<std::uint32_t>(engine_.graph_.local_index(NodeId(packet.node)));
        __builtin_prefetch(&(*engine_.messages_)[packet.message], 1);
      }
    } else if (!engine_.ask_way(worker_, r_, packet, output, vcs)) {
      return;
    }
    const std::int64_t ready = ready_at(packet.head_at, left_at);
    in.ready_at = ready;
    in.vcs = vcs;
    Output& out = outputs_[output];
    __builtin_prefetch(&engine_.inputs_[out.target], 1);
    out.waiting |= std::uint64_t{1} << bit;
    std::int64_t& next = next_[1 + output];
    next = std::min(next, std::max(ready, out.free_at));
    router_.active |= std::uint64_t{2} << output;
    router_.heads |= std::uint64_t{1} << bit;
  }

  // A packet on its way through an output: its first flit, its last, the end of that, and how long
  // the last comes after the first at the full rate.
  struct Passage {
    std::int64_t start_at, tail_at, free_at, follow;
  };
  // The packet, which is the head of `bit`, begins to cross now.
  [[gnu::always_inline]] Passage cross(Output& out, std::uint32_t bit, const Slot& packet,
                                       std::int64_t now) {
    const std::int64_t size = packet.size();
    const std::int64_t flit_size = std::min(size, engine_.flit_bytes_);
    const Wire& wire = engine_.wires_[out.wire];
    const std::int64_t flit = even ? flit_size * engine_.byte_ps_ : wire.serialise_ps(flit_size);
    const std::int64_t follow =
        even ? size * engine_.byte_ps_ - flit : wire.serialise_ps(size - flit_size);
    // The last flit goes when those before it have gone and it is here.
    const std::int64_t tail = std::max(now + follow, packet.head_at + packet.tail_after);
    const std::int64_t free_at = tail + flit;
    out.free_at = free_at;
    ++out.packets;
    out.bytes += static_cast<std::uint64_t>(size);
    out.pointer = static_cast<std::uint16_t>(bit + 1);
    crossbar(bit) = free_at;
    return {now, tail, free_at, follow};
  }

  // It has left its place, which now holds the credit for its space; who is behind it?
  [[gnu::always_inline]] void leave(std::uint32_t output, std::uint32_t bit, const Slot& packet,
                                    const Passage& passage) {
    Input& in = inputs_[bit];
    const std::uint32_t position = in.head;
    Slot* const slots = ring(bit);
    Slot& place = slots[position & ring_mask_];
    // With one rate, stamp_at() comes to this.
    const std::int64_t held = engine_.machine_.release == Release::tail ? 0 : passage.follow;
    const std::int64_t stamp =
        even ? passage.tail_at - held + in.credit
             : engine_.stamp_at(in, packet.size(), passage.start_at, passage.tail_at);
    place.head_at = stamp;
    place.route = in.departed += packet.size();
    in.ready_at = passage.free_at;
    in.head = static_cast<std::uint16_t>(position + 1);
    if (in.remote || in.starved) [[unlikely]]
      tell_feeder(in, stamp);
    Output& out = outputs_[output];
    const std::uint64_t others = out.waiting & ~(std::uint64_t{1} << bit);
    std::int64_t& next = next_[1 + output];
    const bool more = in.head != in.tail;
    if (more) [[likely]] {
      __builtin_prefetch(&slots[(position + 3) & ring_mask_], 1);
      // Most are followed by one of the same message.
      Slot& follower = slots[(position + 1) & ring_mask_];
      if (engine_.dor_ != nullptr && follower.node == packet.node &&
          engine_.dor_->leads(packet.route)) [[likely]] {
        follower.route = engine_.dor_->follow(packet.route, follower.route);
        const std::int64_t ready = ready_at(follower.head_at, passage.free_at);
        in.ready_at = ready;
        next = others != 0 ? passage.free_at : ready;
        return;
      }
    }
    out.waiting = others;
    put_off(output, others != 0 ? passage.free_at : never_at);
    router_.heads &= ~(std::uint64_t{1} << bit);
    if (more) route(bit, passage.free_at);
  }

  void tell_feeder(Input& in, std::int64_t stamp) {
    if (in.remote) {
      engine_.mail_credit(worker_, in, stamp);
    } else {
      engine_.credit(worker_, in, stamp);
    }
  }

  // plain.cpp
  struct Pick {  // The VC to go to; -1 if there is no room, and then when there may be.
    std::int64_t possible_at;
    int vc;
  };
  static constexpr std::int64_t unknown_at = INT64_MIN;  // Not yet to be told.

  [[gnu::always_inline]] inline void route_fresh();
  [[gnu::always_inline]] inline bool serve(std::uint32_t output, std::int64_t now,
                                           std::int64_t sure);
  [[gnu::always_inline]] inline Pick pick_vc(std::uint32_t output, const Input& in,
                                             std::int64_t size, std::int64_t now,
                                             std::int64_t sure);
  static bool count_credits(Engine& engine, std::uint32_t output, int vc, std::int64_t size,
                            std::int64_t now);
  [[gnu::noinline]] static Pick look_closer(Engine& engine, std::uint32_t output, VcMask vcs,
                                            std::int64_t size, std::int64_t now);
  [[gnu::always_inline]] inline void grant(std::uint32_t output, std::uint32_t bit,
                                           std::uint32_t vc, std::int64_t now);
  [[gnu::always_inline]] inline void push(const Output& out, std::uint32_t vc, Account& there,
                                          const Slot& packet, const Passage& passage);
  [[gnu::always_inline]] inline void rewind(Account& there, Input& in, std::uint16_t first,
                                            std::int64_t now);

  // plain_ends.hpp
  [[gnu::always_inline]] inline void give(std::uint32_t output, std::int64_t now);
  [[gnu::always_inline]] inline void make(std::uint32_t output, std::int64_t now);
  void make_any(std::uint32_t output, std::int64_t now);
  [[gnu::always_inline]] inline void grant_node(std::uint32_t output, std::uint32_t bit,
                                                std::uint32_t vc, std::int64_t now);
  [[gnu::always_inline]] inline void receive(Card& card, const Slot& packet, std::int64_t tail);
  [[gnu::noinline]] static void receive_end(Engine& engine, int worker, Card& card,
                                            const Slot& packet, std::int64_t tail);
  [[gnu::always_inline]] inline int pick_near(std::uint32_t output, VcMask vcs, std::int64_t size,
                                              std::int64_t now);

  Engine& engine_;
  Router& router_;
  Output* const outputs_;
  Account* const accounts_;  // By output and VC.
  Input* const inputs_;
  Slot* const slots_;             // Of input 0; each has a ring.
  std::int64_t* const next_;      // By actor.
  std::int64_t* const crossbar_;  // By input port.
  const std::uint64_t through_;   // Candidates that go before the others; 0: all are equal.
  const int worker_;
  const std::uint32_t r_, vcs_, ports_, ring_bits_, ring_mask_;
  const std::uint16_t home_;
};

}  // namespace weft::detail
