// SPDX-License-Identifier: Apache-2.0
// What the general and the plain router have in common, written once: how a packet crosses an
// output, what becomes of its VC and its account, and how its space returns to the feeder. The
// compiler makes a version of it for each kind of router.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/simulate/router/actors.hpp>
#include <weft/simulate/router/cards.hpp>
#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Of plain routers: what the compiler makes a version for.
struct PlainKind {
  std::uint32_t vcs;        // Their number, where it is known to the compiler; else 0.
  bool even, waits;         // See Visit.
  bool timed = false;       // The policy looks at outputs, so heads are routed at their time.
  bool wide = false;        // More than 64 actors.
  bool buffered = false;    // Has output buffers.
  bool cube = false;        // Dimension order on a cube, and every way is short.
  bool whole = true;        // Rings are of one block.
  std::uint32_t words = 1;  // Of a mask of inputs, one or two.
  bool commits = false;     // Heads take a VC before an output.
};

// Of general routers.
struct GeneralKind {
  // Words of a mask of inputs, if they are one or two, and there is one lane to a crossbar input,
  // and rings are of one block; else 0.
  std::uint32_t words;
  bool commits;  // See Setup.
};

// One visit of one router: what only GeneralVisit and PlainVisit are made of.
//
// waits: how long heads wait for outputs is measured. even: all wires have the same rate, in whole
// ps per byte, and a VC is free again as soon as its packet has been granted.
template <bool even, bool waits>
class Visit {
  template <GeneralKind>
  friend class GeneralVisit;
  template <PlainKind>
  friend class PlainVisit;

  // A packet on its way through an output: its first flit, its last, the end of that, and how long
  // the last comes after the first at the full rate.
  struct Passage {
    std::int64_t start_at, tail_at, free_at, follow;
  };

  [[gnu::always_inline]] Visit(State& state, int worker, RouterIndex r)
      : state_(state), router_(state.routers[r]), worker_(worker), r_(r) {}

  OutputIndex index_of(LocalOutput output) const { return router_.first_output + output; }

  // The packet, the head of `in`, goes through the output now, whose state is still that of before.
  template <typename Packet>
  [[gnu::always_inline]] void note_wait(OutputIndex output, const Input& in, const Packet& packet,
                                        std::int64_t crossbar_free_at, std::int64_t now) {
    if (!waits || !state_.measures_waits) return;
    const Setup& setup = state_.setup;
    // An output buffer takes no decisions.
    const std::int64_t decide = in.port == no_port ? 0 : setup.early_ps + setup.late_ps;
    state_.waits[output].add(packet.head_at + decide, in.ready_at,
                             std::max(state_.outputs[output].free_at, crossbar_free_at), now);
  }

  // The packet, which is the output's candidate `bit`, begins to cross now.
  template <typename Packet>
  [[gnu::always_inline]] Passage cross(Output& out, LocalInput bit, const Packet& packet,
                                       std::int64_t now) {
    const Passage passage = pass(state_.wires[out.wire], packet, now);
    out.free_at = passage.free_at;
    ++out.packets;
    out.bytes += packet.size();
    out.pointer = static_cast<std::uint16_t>(bit.value + 1);
    return passage;
  }

  template <typename Packet>
  [[gnu::always_inline]] Passage pass(const Wire& wire, const Packet& packet, std::int64_t now) {
    const std::int64_t size = packet.size();
    // With one rate the last flit follows the first as it did on the wire before, and is always
    // here in time.
    if constexpr (even) return {now, now + packet.lag(), now + size * state_.byte_ps, packet.lag()};
    const std::int64_t flit_size = std::min(size, state_.setup.flit_bytes);
    const std::int64_t follow = wire.serialise_ps(size - flit_size);
    // The last flit goes when those before it have gone and it is here.
    const std::int64_t tail = std::max(now + follow, packet.head_at + packet.lag());
    return {now, tail, tail + wire.serialise_ps(flit_size), follow};
  }

  // The packet takes this VC of the output. It can be given away again when the packet has passed;
  // with lookahead, at once.
  [[gnu::always_inline]] void use_vc(LocalOutput output, Output& out, Vc vc, std::int64_t free_at) {
    out.last_vc = static_cast<std::uint8_t>(vc.value);
    if (!even && state_.setup.holds_vcs) {
      state_.vc_free_at[state_.channel(index_of(output), vc)] =
          state_.setup.machine.lookahead ? 0 : free_at + state_.wires[out.wire].vc_alloc;
    }
  }

  // The head of the buffer, of this size, has left its slot `place`, which from now on holds the
  // credit for its space. Returns when that comes back.
  [[gnu::always_inline]] std::int64_t leave_slot(Input& in, Slot& place, std::uint32_t size,
                                                 const Passage& passage) {
    // With one rate, stamp_at() comes to this.
    const std::int64_t held = state_.setup.machine.release == Release::tail ? 0 : passage.follow;
    const std::int64_t stamp = even ? passage.tail_at - held + in.credit
                                    : stamp_at(state_, in, size, passage.start_at, passage.tail_at);
    place.head_at = stamp;
    place.route = in.departed += size;
    in.ready_at = passage.free_at;
    ++in.head;
    if (in.remote | in.starved) [[unlikely]]
      tell_feeder(in, stamp);
    return stamp;
  }

  void tell_feeder(Input& in, std::int64_t stamp) {
    if (in.remote) {
      mail_credit(state_, worker_, in, stamp);
    } else {
      return_credit(state_, worker_, in, stamp);
    }
  }

  // The visit is over; the router has nothing to do before `next`.
  void sleep_until(std::int64_t next) {
    router_.wake_at = never_at;
    if (next < never_at) state_.wake(worker_, r_, next);
  }

  State& state_;
  Router& router_;
  const int worker_;
  const RouterIndex r_;
};

}  // namespace weft::detail
