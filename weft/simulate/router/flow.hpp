// SPDX-License-Identifier: Apache-2.0
// Packets move from buffer to buffer, and credits back. Inline, because a hop consists of little
// else.
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/simulate/router/credits.hpp>
#include <weft/simulate/router/exchange.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// A packet has come to the front of an output buffer: its only way on is the cable.
void queue_for_cable(State& state, InputIndex input, RouterIndex router);

// A packet has come to the front of its buffer.
inline void new_head(State& state, int worker, InputIndex input, RouterIndex router) {
  const Input& in = state.inputs[input];
  if (in.port == no_port) {
    queue_for_cable(state, input, router);
    return;
  }
  set_bit(state.unrouted(router), input - state.routers[router].first_input);
  if (state.setup.timed) {
    const std::int64_t at = state.route_at(in);
    state.head_due[input] = at;
    state.route_due[router] = std::min(state.route_due[router], at);
    state.bring_forward(router, routing_actor, at);
    state.wake(worker, router, at);
  } else {
    // A route that does not depend on time can wait until the packet could move: one visit less.
    state.wake(worker, router, state.ready_at(in));
  }
}

inline void arrive(State& state, int worker, InputIndex input, RouterIndex router,
                   const Slot& packet) {
  Input& in = state.inputs[input];
  const bool empty = in.head == in.tail;
  state.slot(in, in.tail++) = packet;
  if (empty) new_head(state, worker, input, router);
}

// Into the buffer at the other end.
inline void push(State& state, int worker, const Output& out, Vc vc, const Slot& packet) {
  if (!out.remote) {
    arrive(state, worker, out.target + vc, out.router, packet);
    return;
  }
  const Input& mirror = state.inputs[out.target + vc];
  state.slot(mirror, mirror.tail) = packet;
  mail_packet(state, worker, out, vc, packet);
}

// Space in the buffer becomes free at `stamp_at`. If its feeder waits for that, it is told.
inline void return_credit(State& state, int worker, Input& in, std::int64_t stamp_at) {
  if (!in.starved) return;
  in.starved = false;
  const OutputIndex feeder = in.feeder();
  const RouterIndex r = state.router_of_output[feeder];
  if (state.outputs[feeder].kind == to_router) --state.routers[r].starved;
  const LocalOutput output = feeder - state.routers[r].first_output;
  if (state.setup.commits && output.value < state.routers[r].ends()) {
    // Those who wait for the output have a VC, and room in it.
    state.reopen(worker, r, feeder, stamp_at);
  } else {
    const std::int64_t at = std::max(stamp_at, state.outputs[feeder].free_at);
    state.bring_forward(r, actor_of(output), at);
    state.wake(worker, r, at);
  }
  if (state.news == nullptr) return;
  state.news->check_port(r, output, stamp_at);
  state.wake(worker, r, stamp_at);
}

// A credit from another worker or process: the packet leaves the mirror too.
inline void take_credit(State& state, int worker, InputIndex mirror, std::int64_t stamp_at) {
  Input& in = state.inputs[mirror];
  Slot& gone = state.slot(in, in.head++);
  gone.head_at = stamp_at;
  gone.route = in.departed += gone.size();
  if (state.queues.kept) state.queues.note_credit(in.feeder(), stamp_at);
  return_credit(state, worker, in, stamp_at);
}

}  // namespace weft::detail
