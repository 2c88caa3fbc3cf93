// SPDX-License-Identifier: Apache-2.0
// The state of the simulation: one plain struct that all components work on. layout.cpp fills it.
//
// Always holds, inside a router at time t: arrivals and credits up to t are seen first, then
// outputs act in port order, then cards, then alarms; an output's winner is a function of what
// waits there. Nothing depends on the order of insertion, so nothing depends on workers or windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/dimension_order.hpp>
#include <weft/network/route/queue_rows.hpp>
#include <weft/parallel/des/windows.hpp>
#include <weft/simulate/router/index.hpp>
#include <weft/simulate/router/messages.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/records.hpp>
#include <weft/simulate/router/tables.hpp>
#include <weft/simulate/router/worker.hpp>

namespace weft::detail {

class News;
class RemoteProcesses;
struct JoinedRouters;

// What is simulated, and what follows from it for every router. Never changes.
struct Setup {
  Setup(const Topology& t, const NetworkHardware& m, const Policy& p, Host& h, std::uint64_t seed);

  const Topology& topology;
  const Graph& graph;
  const NetworkHardware machine;
  const Policy& policy;
  const PolicyFacts facts;
  Host& host;
  const Rng packet_bits;  // Random bits of each packet.

  const std::uint32_t vcs;
  const VcMask all_vcs;
  const std::uint32_t options_max;  // Outputs that a head may choose from.
  const bool commits;               // A head with several options takes a VC before an output.
  const bool asks_late;             // The policy is asked when a head can take a VC, not before.
  const bool timed;                 // Heads are routed at their time, not before.
  const bool holds_vcs;             // A VC is not free as soon as its packet has been granted.
  const bool buffered;              // Has output buffers.
  const std::uint32_t stages;       // 2 with output buffers, else 1.
  const std::int64_t route_ps, alloc_ps, leave_ps;
  // Route computation and VC allocation, done while the last head leaves or after it has left.
  const std::int64_t early_ps, late_ps;
  const std::int64_t flit_bytes, header_bytes;
};

// Which routers this process has, and in which order. Those of one worker stand together.
struct Placement {
  static constexpr RouterIndex elsewhere{UINT32_MAX};

  Table<RouterId, RouterIndex> ids;
  std::vector<RouterIndex> index;         // By RouterId; `elsewhere` if another process has it.
  Partition partition;                    // Which worker owns which router.
  std::vector<std::uint32_t> process_of;  // By RouterId; empty if this process is alone.

  bool alone() const { return process_of.empty(); }
  bool has(RouterId router) const { return index[router.index] != elsewhere; }
  RouterIndex find(RouterId router) const { return index[router.index]; }
  int worker_of(RouterIndex r) const {
    const std::vector<std::uint32_t>& first = partition.first;
    return static_cast<int>(std::upper_bound(first.begin(), first.end(), r.value) - first.begin()) -
           1;
  }
};

// An output of another process that fills an input of ours: credits go there.
struct RemoteFeeder {
  std::uint32_t process;
  RouterId router;
  std::uint32_t port;
  std::uint32_t wire;
};

// Allocation of VCs, where heads take one before an output. A head that has been tried and found
// all its ways shut is tried again when one of them may have opened, not before.
struct SeekTables {
  std::vector<std::uint64_t> heads;    // By router, masks of inputs: heads without a VC.
  std::vector<std::uint64_t> untried;  // Those of them that have not been tried yet.
  // By output of a crossbar: none of the heads that were tried gets a VC of it before. Known as far
  // as credits are: one that comes reopens it.
  LazyArray<std::int64_t, OutputIndex> shut_until;
  Table<std::int64_t, RouterIndex> soonest_at;  // The least of them, or less.
  Table<std::uint64_t, RouterIndex> soon;  // Outputs that are shut until a known time, modulo 64.
  LazyArray<std::uint64_t, InputIndex> ways;  // Outputs that the head may take, modulo 64.

  // Of plain routers, where a word is enough for the outputs of a router.
  struct Full {
    std::int64_t until;  // Unless a VC is let go or a credit comes before.
    std::uint32_t size;
    VcMask vcs;
  };
  // By output: packets of this size or more find no room in these VCs.
  LazyArray<Full, OutputIndex> full;
  // By output, masks of inputs: heads that have been tried and may go there.
  LazyArray<std::uint64_t> wanting;
  Table<std::uint64_t, RouterIndex> taken;  // Outputs all of whose VCs are taken.

  std::size_t bytes() const {
    return (heads.size() + untried.size()) * sizeof(std::uint64_t) + shut_until.bytes() +
           soonest_at.bytes() + soon.bytes() + ways.bytes() + full.bytes() + wanting.bytes() +
           taken.bytes();
  }
};

// What a policy sees of the queues of outputs, in bytes. By output.
struct QueueTables {
  bool counts_waiting = false;
  bool kept = false;                             // `ahead` and `fewer_at` are, too.
  LazyArray<std::int64_t, OutputIndex> waiting;  // Heads that wait here for the output.
  // All that is ahead of a newcomer, and until when: no credit that is not counted comes back
  // sooner.
  LazyArray<std::int64_t, OutputIndex> ahead, fewer_at;

  // The packet that left the buffer gives the output that fills it a credit.
  void note_credit(OutputIndex feeder, std::int64_t stamp_at) {
    if (stamp_at < fewer_at[feeder]) fewer_at[feeder] = stamp_at;
  }
  std::size_t bytes() const { return waiting.bytes() + ahead.bytes() + fewer_at.bytes(); }
};

// Heads that may take any port of a row (route/queue_rows.hpp): their options follow from the
// queues that were seen when they were routed.
struct RowTables {
  struct Row : QueueRow {
    std::uint16_t best = 0;  // The first port in order.
  };

  const QueueRows* policy = nullptr;  // Null: there are none.
  std::size_t longest = 0;
  LazyArray<std::int64_t> keys;        // By input and port of the row: least first.
  LazyArray<Row, InputIndex> of_head;  // Without ports: it has options as other heads.

  // Of a port with this queue, at this place in the order of ties.
  static std::int64_t key(std::int64_t queue, std::uint32_t place) {
    return queue << place_bits | place;
  }
  static std::uint16_t port_of(const QueueRow& row, std::int64_t key) {
    const std::uint32_t from_first =
        row.begin + (static_cast<std::uint32_t>(key) & ((1u << place_bits) - 1));
    return static_cast<std::uint16_t>(
        row.first + (from_first < row.count ? from_first : from_first - row.count));
  }
  std::int64_t* keys_of(InputIndex input) { return &keys[input.value * longest]; }
  std::size_t bytes() const { return keys.bytes() + of_head.bytes(); }

 private:
  static constexpr int place_bits = 16;
};

struct State {
  State(const Setup& constants, Placement placed);

  const Setup setup;
  const Placement placement;

  // Layout of the tables.
  bool all_up = true;                // Every port has a cable, and it works.
  std::uint32_t words = 1;           // Words of a mask of a router's inputs.
  std::uint32_t crossbar_lanes = 1;  // Packets that an input port can send at once.
  std::int32_t buffer_packets = 1, output_buffer_packets = 1;
  RingShape rings;
  std::uint32_t real_inputs = 0;  // Without mirrors.
  std::uint32_t input_count = 0, output_count = 0;

  // For plain routers (plain_router.hpp). `dimension_order` is set if that is the policy and no
  // cable is down; the upper half of Slot::route, which this policy does not use, then holds the
  // place of the destination's router.
  const DimensionOrder* dimension_order = nullptr;
  std::int64_t byte_ps = 0;  // Time of a byte, if all wires have the same rate.
  // No visit goes further beyond the moment for which its router was woken.
  std::int64_t reach_ps = never_at;

  LazyArray<Router, RouterIndex> routers;
  // By router and actor: it has nothing to do before. And by groups of a router's actors, so that
  // the next one is found without looking at all.
  LazyArray<std::int64_t> next_at;
  LazyArray<ActorGroup> actor_groups;
  // Where heads are timed: when the first is due, and each that has no route yet.
  Table<std::int64_t, RouterIndex> route_due;
  LazyArray<std::int64_t, InputIndex> head_due;
  LazyArray<Output, OutputIndex> outputs;
  Table<RouterIndex, OutputIndex> router_of_output;
  QueueTables queues;  // If policies look at them.
  RowTables rows;      // If they leave rows of ports to the router.
  bool measures_waits = false;
  bool special_visits = true;           // See NetworkOptions.
  LazyArray<Waits, OutputIndex> waits;  // If they are measured.
  LazyArray<Account, ChannelIndex> accounts;
  LazyArray<std::int64_t, ChannelIndex> vc_free_at;  // If VCs are held.
  LazyArray<Input, InputIndex> inputs;               // Mirrors behind the others.
  LazyArray<Slot> slots;                             // All rings: see RingShape.
  LazyArray<RouteOption> options;                    // By input, if heads have several.
  Table<std::uint8_t, InputIndex> option_count;
  SeekTables seek;                           // If heads take a VC before an output.
  LazyArray<std::int64_t> crossbar_free_at;  // By router, input port and lane.
  LazyArray<Card, CardIndex> cards;
  std::vector<Wire> wires;
  std::vector<Bytes> flowing;  // By link class: under way at full rate until credits are back.
  // Masks of inputs, where one word is not enough for a router.
  std::vector<std::uint64_t> waiting_words;   // By output: its candidates.
  std::vector<std::uint64_t> unrouted_words;  // By router: heads without a route.
  std::vector<RemoteFeeder> remote_feeders;

  Agenda agenda;
  std::vector<Worker> workers;
  MessagePools messages;
  News* news = nullptr;                   // If the policy wants to know of lines.
  RemoteProcesses* remote = nullptr;      // If other processes take part.
  const JoinedRouters* joined = nullptr;  // If nodes have cards at several routers.

  Worker& worker(int w) { return workers[static_cast<std::size_t>(w)]; }
  ChannelIndex channel(OutputIndex output, Vc vc) const {
    return ChannelIndex(output.value * setup.vcs + vc.value);
  }
  OutputIndex output_at(RouterIndex r, LocalOutput output) const {
    return routers[r].first_output + output;
  }

  // Rings.
  std::size_t first_slot(const Input& in) const {
    return rings.first(InputIndex(static_cast<std::uint32_t>(&in - inputs.begin())));
  }
  Slot& slot(const Input& in, std::uint32_t position) {
    return slots[first_slot(in) + rings.offset(position)];
  }
  const Slot& slot(const Input& in, std::uint32_t position) const {
    return slots[first_slot(in) + rings.offset(position)];
  }
  Slot& slot(const Account& account, std::uint32_t position) {
    return slots[account.ring + rings.offset(position)];
  }
  // Where rings are whole.
  Slot& whole_slot(InputIndex input, std::uint32_t position) {
    return slots[(std::size_t{input.value} << rings.bits) + (position & rings.mask)];
  }
  Slot& whole_slot(const Account& account, std::uint32_t position) {
    return slots[account.ring + (position & rings.mask)];
  }
  const Slot& slot(const Account& account, std::uint32_t position) const {
    return slots[account.ring + rings.offset(position)];
  }

  // Masks of one word stand in the records.
  std::uint64_t* waiting(OutputIndex output) {
    return words == 1 ? &outputs[output].waiting
                      : &waiting_words[std::size_t{output.value} * words];
  }
  std::uint64_t* unrouted(RouterIndex r) {
    return words == 1 ? &routers[r].unrouted : &unrouted_words[std::size_t{r.value} * words];
  }
  const std::uint64_t* waiting(OutputIndex output) const {
    return const_cast<State*>(this)->waiting(output);
  }
  const std::uint64_t* untried(RouterIndex r) const { return const_cast<State*>(this)->untried(r); }
  const std::uint64_t* seeking(RouterIndex r) const { return const_cast<State*>(this)->seeking(r); }
  const std::uint64_t* unrouted(RouterIndex r) const {
    return const_cast<State*>(this)->unrouted(r);
  }
  // Heads without a VC, and those of them that have not been tried yet.
  std::uint64_t* seeking(RouterIndex r) { return &seek.heads[std::size_t{r.value} * words]; }
  std::uint64_t* untried(RouterIndex r) { return &seek.untried[std::size_t{r.value} * words]; }
  // Does a head that has been tried wait for the output? Where that is not known: yes.
  bool is_wanted(RouterIndex r, OutputIndex output) const {
    if (routers[r].ends() > 64) return true;
    const std::uint64_t* const mask = &seek.wanting[std::size_t{output.value} * words];
    return std::any_of(mask, mask + words, [](std::uint64_t word) { return word != 0; });
  }
  // From `at` on a VC of this output, which belongs to the crossbar of router r, may be free.
  void reopen(int worker, RouterIndex r, OutputIndex output, std::int64_t at) {
    if (seek.full.size() > 0) {
      seek.full[output].until = 0;
      if (!is_wanted(r, output)) return;
    }
    const std::uint64_t* const heads = seeking(r);
    const bool any =
        std::any_of(heads, heads + words, [](std::uint64_t word) { return word != 0; });
    note_open(r, output, at);
    if (!any) return;
    bring_forward(r, routing_actor, at);
    wake(worker, r, at);
  }
  // The same where heads are known to wait for it.
  void reopen_wanted(int worker, RouterIndex r, OutputIndex output, std::int64_t at) {
    note_open(r, output, at);
    bring_forward(r, routing_actor, at);
    wake(worker, r, at);
  }
  void note_open(RouterIndex r, OutputIndex output, std::int64_t at) {
    if (at < seek.shut_until[output]) seek.shut_until[output] = at;
    if (at < seek.soonest_at[r]) seek.soonest_at[r] = at;
    seek.soon[r] |= std::uint64_t{1} << ((output.value - routers[r].first_output.value) % 64);
  }
  // Input of the output's candidate 0. Output buffers are numbered as their cables.
  InputIndex first_candidate(RouterIndex r, LocalOutput output) const {
    const Router& router = routers[r];
    if (output.value < router.ends()) return router.first_input;
    return router.first_input + LocalInput(output.value * setup.vcs);
  }

  // Times.
  std::int64_t& next_of(RouterIndex r, Actor actor) {
    return next_at[std::size_t{routers[r].first_next} + actor.value];
  }
  void bring_forward(RouterIndex r, Actor actor, std::int64_t at) {
    Router& router = routers[r];
    std::int64_t* const next = &next_at[router.first_next];
    if (at < next[actor.value]) next[actor.value] = at;
    actor_groups[router.first_group() + actor.value / actors_per_group].bring_forward(actor, at);
    router.active |= Router::active_bit(actor);
  }
  // The router will be visited at `at` or before.
  void wake(int worker, RouterIndex r, std::int64_t at) {
    if (at >= routers[r].wake_at) return;
    routers[r].wake_at = at;
    agenda.wake(worker, r.value, at);
  }
  std::int64_t& crossbar_free(RouterIndex r, std::uint16_t port) {
    std::int64_t* const first =
        &crossbar_free_at[(std::size_t{routers[r].first_port} + port) * crossbar_lanes];
    return crossbar_lanes == 1 ? *first : *std::min_element(first, first + crossbar_lanes);
  }
  // When the VC can be given away again.
  std::int64_t vc_free(OutputIndex output, Vc vc) const {
    return setup.holds_vcs ? vc_free_at[channel(output, vc)] : 0;
  }
  // When the head's route is known: only then may a policy that looks at the outputs be asked.
  std::int64_t route_at(const Input& in, std::int64_t head_at) const {
    if (setup.asks_late) return ready_at(in, head_at);
    return setup.machine.lookahead ? std::max(head_at + setup.route_ps, in.ready_at)
                                   : std::max(head_at, in.ready_at) + setup.route_ps;
  }
  std::int64_t route_at(const Input& in) const { return route_at(in, slot(in, in.head).head_at); }
  std::int64_t ready_at(const Input& in, std::int64_t head_at) const {
    return std::max(head_at + setup.early_ps, in.ready_at) + setup.late_ps;
  }
  std::int64_t ready_at(const Input& in) const { return ready_at(in, slot(in, in.head).head_at); }

  bool is_here(std::uint32_t node) const {
    return placement.has(setup.graph.router_of(NodeId(node)));
  }
};

// What all kinds of routers have in common: everything that happens in router r in this reach.
using VisitFunction = void (*)(State& state, int worker, RouterIndex r, Reach reach);

// Masks of a router's inputs.
inline void set_bit(std::uint64_t* mask, LocalInput input) {
  mask[input.value / 64] |= std::uint64_t{1} << (input.value % 64);
}
inline void clear_bit(std::uint64_t* mask, LocalInput input) {
  mask[input.value / 64] &= ~(std::uint64_t{1} << (input.value % 64));
}
inline bool has_bit(const std::uint64_t* mask, LocalInput input) {
  return ((mask[input.value / 64] >> (input.value % 64)) & 1) != 0;
}
constexpr std::uint64_t low_bits(std::uint32_t count) {
  return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

}  // namespace weft::detail
