// SPDX-License-Identifier: Apache-2.0
// A head can move if one of its options leads to a buffer with room, now or once packets that can
// move have left it. What remains after all that can move is taken away waits in circles; one
// circle is shown.
#include "weft/simulate/router/deadlock.hpp"

#include <algorithm>
#include <vector>

#include <weft/base/pack.hpp>

namespace weft::detail {

namespace {

// A buffer anywhere in the network: its router, and its number within that.
using BufferId = std::uint64_t;
BufferId buffer_id(RouterId router, LocalInput input) {
  return (BufferId{router.index} << 32) | input.value;
}

struct Waiter {  // A head, and the buffers whose lack of room holds it back.
  BufferId buffer;
  bool can_move;
  std::vector<BufferId> waits;
};

RouterIndex router_of(const State& state, InputIndex input) {
  const auto after =
      std::upper_bound(state.routers.begin(), state.routers.end(), input,
                       [](InputIndex i, const Router& r) { return i < r.first_input; });
  return RouterIndex(static_cast<std::uint32_t>(after - state.routers.begin()) - 1);
}

BufferId id_of(const State& state, InputIndex input) {
  const RouterIndex r = router_of(state, input);
  return buffer_id(state.placement.ids[r], input - state.routers[r].first_input);
}

std::string describe(const Setup& setup, BufferId buffer) {
  const RouterId router(static_cast<std::uint32_t>(buffer >> 32));
  const auto local = static_cast<std::uint32_t>(buffer);
  const std::uint32_t port = local / setup.vcs;
  const auto ports = static_cast<std::uint32_t>(setup.graph.ports(router).size());
  const auto ends = ports + static_cast<std::uint32_t>(setup.graph.nodes_at(router).size());
  std::string text = router_name(setup.topology, router);
  if (port >= ends) {
    text += " output buffer " + std::to_string(port - ends);
  } else if (port >= ports) {
    text += " from its node " + std::to_string(port - ports);
  } else {
    text += " from " + router_name(setup.topology, setup.graph.ports(router)[port].peer);
  }
  return text + " VC " + std::to_string(local % setup.vcs);
}

std::vector<RouteOption> options_in_row(const State& state, const QueueRow& row) {
  std::vector<RouteOption> options;
  for (std::uint32_t port = row.first; port < std::uint32_t{row.first} + row.count; ++port)
    options.push_back({.output = static_cast<std::uint16_t>(port),
                       .vcs = row.vcs & state.setup.all_vcs,
                       .route = row.state});
  return options;
}

// Where a routed head may go. With a single option, and of a head that has a VC before an output,
// only the waiting masks know the output.
std::vector<RouteOption> options_of(const State& state, RouterIndex r, InputIndex input) {
  const Input& in = state.inputs[input];
  const std::uint32_t most = state.setup.options_max;
  const bool committed = state.setup.commits && in.port != no_port &&
                         !has_bit(state.seeking(r), input - state.routers[r].first_input);
  if (most > 1 && in.port != no_port && !committed) {
    if (state.rows.policy != nullptr && state.rows.of_head[input].count > 0)
      return options_in_row(state, state.rows.of_head[input]);
    const RouteOption* const first = &state.options[std::size_t{input.value} * most];
    return {first, first + state.option_count[input]};
  }
  std::vector<RouteOption> options;
  for (LocalOutput o; o < state.routers[r].first_card_output(); ++o) {
    const LocalInput bit = input - state.first_candidate(r, o);
    if (bit.value >= state.words * 64) continue;
    if (!has_bit(state.waiting(state.output_at(r, o)), bit)) continue;
    options.push_back({.output = static_cast<std::uint16_t>(o.value), .vcs = in.vcs, .route = 0});
  }
  return options;
}

bool has_space(const State& state, const Output& out, const Input& next, std::int64_t size) {
  std::int64_t used = size;
  for (std::uint16_t p = next.head; p != next.tail; ++p) used += state.slot(next, p).size();
  const NetworkHardware& machine = state.setup.machine;
  const bool inner = out.kind == to_buffer;
  const int packets = inner ? state.output_buffer_packets : state.buffer_packets;
  const Bytes whole = inner ? machine.output_buffer : machine.buffer_size();
  return used <= whole.count && static_cast<std::uint16_t>(next.tail - next.head) < packets;
}

// Where heads take a VC before an output, some policies are asked only then.
bool has_no_route(const State& state, RouterIndex r, LocalInput input) {
  if (has_bit(state.unrouted(r), input)) return true;
  return state.setup.commits && has_bit(state.untried(r), input);
}

// can_move: one of its options is open, or it has no route yet.
Waiter waiter(const State& state, InputIndex input) {
  const RouterIndex r = router_of(state, input);
  const Router& router = state.routers[r];
  const Input& in = state.inputs[input];
  Waiter head{id_of(state, input), false, {}};
  if (in.port != no_port && has_no_route(state, r, input - router.first_input)) {
    head.can_move = true;
    return head;
  }
  const std::int64_t size = state.slot(in, in.head).size();
  for (const RouteOption& option : options_of(state, r, input)) {
    const Output& out = state.outputs[router.first_output + LocalOutput(option.output)];
    if (out.kind == to_node) head.can_move = true;
    for (Vc vc{0}; vc.value < state.setup.vcs; ++vc) {
      if (((option.vcs >> vc.value) & 1) == 0) continue;
      if (has_space(state, out, state.inputs[out.target + vc], size)) {
        head.can_move = true;
      } else if (!state.placement.alone() && out.remote) {
        head.waits.push_back(buffer_id(out.remote_router(), out.remote_target() + vc));
      } else {
        head.waits.push_back(id_of(state, (out.remote ? out.real_target : out.target) + vc));
      }
    }
  }
  return head;
}

// The waiting heads of all processes, by buffer.
std::vector<Waiter> all_waiters(const State& state, ProcessGroup* peers) {
  std::vector<Waiter> all;
  for (InputIndex i; i.value < state.real_inputs; ++i) {
    if (state.inputs[i].head != state.inputs[i].tail) all.push_back(waiter(state, i));
  }
  if (peers != nullptr) {
    Packer mine;
    for (const Waiter& head : all) {
      mine.put(head.buffer);
      mine.put(head.can_move);
      mine.put_list(head.waits);
    }
    all.clear();
    for (const PeerBytes& bytes : peers->all_gather(mine.take())) {
      for (Unpacker theirs(bytes); !theirs.empty();) {
        const auto buffer = theirs.take<BufferId>();
        const bool can_move = theirs.take<bool>();
        all.push_back({buffer, can_move, theirs.take_list<BufferId>()});
      }
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Waiter& a, const Waiter& b) { return a.buffer < b.buffer; });
  return all;
}

// Position of the buffer's head in the list; -1 if the buffer is empty.
std::ptrdiff_t find(const std::vector<Waiter>& heads, BufferId buffer) {
  const auto at = std::lower_bound(heads.begin(), heads.end(), buffer,
                                   [](const Waiter& w, BufferId b) { return w.buffer < b; });
  return at != heads.end() && at->buffer == buffer ? at - heads.begin() : -1;
}

// 1 for each head that can never move.
std::vector<char> find_stuck(const std::vector<Waiter>& heads) {
  std::vector<std::vector<std::size_t>> waited_by(heads.size());
  std::vector<char> stuck(heads.size(), 1);
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    bool free = heads[i].can_move;
    for (const BufferId buffer : heads[i].waits) {
      const auto on = find(heads, buffer);
      if (on < 0) free = true;  // An empty buffer will have room.
      if (on >= 0) waited_by[static_cast<std::size_t>(on)].push_back(i);
    }
    if (free) moving.push_back(i);
  }
  while (!moving.empty()) {
    const std::size_t i = moving.back();
    moving.pop_back();
    if (stuck[i] == 0) continue;
    stuck[i] = 0;
    moving.insert(moving.end(), waited_by[i].begin(), waited_by[i].end());
  }
  return stuck;
}

}  // namespace

std::string find_deadlock(const State& state, ProcessGroup* peers) {
  const Setup& setup = state.setup;
  const std::vector<Waiter> heads = all_waiters(state, peers);
  const std::vector<char> stuck = find_stuck(heads);
  const auto first = std::find(stuck.begin(), stuck.end(), 1);
  if (first == stuck.end()) return {};
  // A stuck head waits for stuck ones only, so a walk along them comes back somewhere.
  std::vector<std::size_t> walk = {static_cast<std::size_t>(first - stuck.begin())};
  std::vector<std::size_t> order(heads.size(), 0);
  for (;;) {
    const std::size_t here = walk.back();
    if (order[here] != 0) {
      walk.erase(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(order[here]) - 1);
      break;
    }
    order[here] = walk.size();
    if (heads[here].waits.empty()) return describe(setup, heads[here].buffer) + " has no way on";
    walk.push_back(static_cast<std::size_t>(find(heads, heads[here].waits.front())));
  }
  std::string text = std::to_string(std::count(stuck.begin(), stuck.end(), 1)) +
                     " buffers wait for each other: " + describe(setup, heads[walk.front()].buffer);
  for (std::size_t i = 1; i < walk.size(); ++i)
    text += " -> " + describe(setup, heads[walk[i]].buffer);
  return text;
}

}  // namespace weft::detail
