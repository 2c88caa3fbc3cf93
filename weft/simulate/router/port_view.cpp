// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/port_view.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <weft/network/route/path.hpp>
#include <weft/simulate/router/credits.hpp>
#include <weft/simulate/router/news.hpp>

namespace weft::detail {

bool RouterView::up(int port) const {
  const RouterId here = state_.placement.ids[router_];
  return state_.all_up || state_.setup.graph.ports(here)[static_cast<std::size_t>(port)].usable();
}

Bytes RouterView::free_at(OutputIndex output, Vc vc) const {
  Account& account = state_.accounts[state_.channel(output, vc)];
  reclaim(state_, account, state_.inputs[state_.outputs[output].target + vc], now_);
  return Bytes{account.room};
}

Bytes RouterView::free(int port, int vc) const {
  return free_at(state_.output_at(router_, LocalOutput(static_cast<std::uint32_t>(port))),
                 Vc(static_cast<std::uint32_t>(vc)));
}

LineNews RouterView::line(int port, int line) const {
  return state_.news->line_now(router_, port, line, now_);
}

// What is taken of the buffers, of this size each, that the output fills.
Bytes RouterView::taken_from(OutputIndex output, Bytes whole) const {
  const Input* const inputs = &state_.inputs[state_.outputs[output].target];
  Account* const accounts = &state_.accounts[state_.channel(output, Vc(0))];
  std::int64_t taken = 0;
  for (std::uint32_t v = 0; v < state_.setup.vcs; ++v) {
    if (accounts[v].reclaim != inputs[v].head) reclaim(state_, accounts[v], inputs[v], now_);
    taken += whole.count - accounts[v].room;
  }
  return Bytes{taken};
}

Bytes RouterView::queued(int port) const {
  const Router& router = state_.routers[router_];
  const Setup& setup = state_.setup;
  const LocalOutput output(static_cast<std::uint32_t>(port));
  if (state_.queues.kept) return Bytes{kept_queue(router.first_output + output)};
  Bytes sum =
      taken_from(router.first_output + output,
                 setup.buffered ? setup.machine.output_buffer : setup.machine.buffer_size());
  // Behind an output buffer stands a second account, of the far end.
  if (setup.buffered)
    sum += taken_from(router.first_output + LocalOutput(output.value + router.ends()),
                      setup.machine.buffer_size());
  if (state_.queues.counts_waiting)
    return sum + Bytes{state_.queues.waiting[router.first_output + output]};
  const std::uint64_t* const mask = state_.waiting(router.first_output + output);
  for (std::uint32_t w = 0; w < state_.words; ++w) {
    for (std::uint64_t word = mask[w]; word != 0; word &= word - 1) {
      const LocalInput input(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)));
      const Input& in = state_.inputs[router.first_input + input];
      sum += Bytes{state_.slot(in, in.head).size()};
    }
  }
  return sum;
}

// Counts the credits that have come back to the output.
void RouterView::count_queue(OutputIndex output) const {
  const Slice<Input, Vc> inputs(&state_.inputs[state_.outputs[output].target]);
  const std::int64_t whole = state_.setup.machine.buffer_size().count;
  std::int64_t taken = 0, next = never_at;
  for (Vc vc{0}; vc.value < state_.setup.vcs; ++vc) {
    Account& account = state_.accounts[state_.channel(output, vc)];
    next = std::min(next, reclaim_in_order(state_, account, inputs[vc], now_));
    taken += whole - account.room;
  }
  state_.queues.fewer_at[output] = next;
  state_.queues.ahead[output] = taken + state_.queues.waiting[output];
}

// As queued() where nothing is unusual; else by asking it.
void RouterView::queues(int first, std::span<std::int64_t> bytes) const {
  if (!state_.all_up || state_.setup.buffered || !state_.queues.counts_waiting)
    return PortView::queues(first, bytes);
  const Bytes whole = state_.setup.machine.buffer_size();
  OutputIndex output = state_.output_at(router_, LocalOutput(static_cast<std::uint32_t>(first)));
  if (state_.queues.kept) {
    for (std::int64_t& queue : bytes) {
      queue = kept_queue(output);
      ++output;
    }
    return;
  }
  for (std::int64_t& queue : bytes) {
    queue = taken_from(output, whole).count + state_.queues.waiting[output];
    ++output;
  }
}

Bytes RouterView::flowing(int port) const {
  const RouterId here = state_.placement.ids[router_];
  return state_.flowing[state_.setup.graph.ports(here)[static_cast<std::size_t>(port)].link_class];
}

// The earliest failure counts, whichever worker finds it: the message
// is the same for any number of workers.
void note_no_way(State& state, int worker, RouterIndex r, const Slot& packet) {
  Worker& finder = state.worker(worker);
  const RouterId here = state.placement.ids[r];
  if (std::pair(packet.head_at, here) >= std::pair(finder.failed_at, finder.failed_router)) return;
  finder.failed_at = packet.head_at;
  finder.failed_router = here;
  finder.failure = explain_no_way(state.setup.topology, here, NodeId(packet.node));
}

}  // namespace weft::detail
