// SPDX-License-Identifier: Apache-2.0
// The routers of the flit model: records that are as compact as possible, in arrays of the whole
// network. Times are numbers of cycles unless their names say ps.
//
// Always holds: a worker reads and writes the records of its own routers and nodes only, and what
// it does for a router follows from what has arrived there. So several of them need no locks, and
// nothing depends on how many there are.
//
// Routers and nodes have numbers here that are not their RouterId and NodeId: those of one worker
// stand together, in the order of their ids. One worker: they are the same.
//
// A router has ends: its ports to other routers, then its nodes. An end has an input and an output
// with as many VCs each; VC v of end e is number e * vcs + v, among inputs as among outputs. Behind
// them, in the same way, come the VCs of nodes: what a node's card sends into counts as outputs,
// what it takes out of as inputs. What arrives in buffers of outputs (output_buffers.hpp) has the
// numbers of these outputs' VCs after all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/pool.hpp>
#include <weft/network/part/part.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/flits/allocator.hpp>
#include <weft/simulate/flits/arrivals.hpp>
#include <weft/simulate/flits/crossbar.hpp>
#include <weft/simulate/flits/flit_model.hpp>
#include <weft/simulate/flits/mail.hpp>
#include <weft/simulate/flits/number_set.hpp>
#include <weft/simulate/flits/output_buffers.hpp>
#include <weft/simulate/flits/packet.hpp>
#include <weft/simulate/router/hardware.hpp>

namespace weft::flits {

// Ends of a router stand in one word; where there are more, a bit stands for every 64th.
inline constexpr std::uint32_t word_ends = 64;
inline constexpr std::uint16_t no_end = 0xffff;

// Packets pass a VC one after the other. Those that have a flit in it, or whose flits are still to
// come behind the head, stand in its ring.
struct InputVc {
  std::uint32_t router = 0;
  std::uint16_t port = 0;
  std::uint16_t out_port = 0;  // Allotted to the first packet.
  std::uint8_t vc = 0;
  bool active = false;               // It has been allotted a VC.
  std::uint32_t flits = 0;           // In the buffer, of all packets.
  std::uint32_t passed = 0;          // Of the first packet, gone on.
  std::uint32_t packet = none;       // The first.
  std::uint32_t output = none;       // Number of the VC allotted to it.
  std::uint32_t head = 0, tail = 0;  // Of the ring; free-running.
  std::uint32_t choices = none;      // In ChoicePool, while it waits for a VC.
  std::int64_t ready_at = 0;         // Its next stage.
};

struct OutputVc {
  std::int32_t credits = 0;    // Flits that what it fills has room for.
  std::uint32_t owner = none;  // Input VC that it is allotted to.
};

struct InEnd {
  VcMask unrouted = 0, waiting = 0, ready = 0;  // Stages of its VCs; ready: could use the switch.
  std::uint32_t feeder = none;                  // First output VC of the other side.
  std::int32_t credit_delay = 1;
  std::uint8_t vc_turn = 0;
  std::uint8_t held = nobody;           // The VC whose packet keeps the switch.
  std::uint8_t remote_worker = nobody;  // The worker that has the other side, if it is another.
};

struct OutEnd {
  VcMask free = 0;                      // Allotted to nobody.
  std::uint32_t target = none;          // First input VC of the other side, or first queue here.
  std::int32_t delay = 1;               // From the switch to being usable there.
  std::uint16_t held_by = no_end;       // Input end.
  std::uint8_t remote_worker = nobody;  // As InEnd::remote_worker.
  std::int64_t flit_ps = 0;             // 0: as fast as the switch.
  std::int64_t free_at_ps = 0;          // Where a flit takes longer than Timing::busy_above_ps.
  Passed passed;
};

struct Router {
  std::uint64_t unrouted = 0, waiting = 0, ready = 0;  // Ends whose VCs are in these stages.
  std::uint32_t first_end = 0;
  std::uint16_t ends = 0, ports = 0;
};

class News;

// A packet for which the routing has no way.
struct Failure {
  std::int64_t at = 0;
  RouterId router{};
  std::string text;  // Empty: there is none.
};

// A head that asks for a VC of this output end, and at the same time for the switch.
struct Speculation {
  std::uint32_t input;
  std::uint16_t out_port;
};

// Stages in cycles. A hop is rounded to whole cycles once, as a sum.
struct Timing {
  std::int64_t cycle_ps = 1;
  // Outputs with flits of up to this time need no clock: one matching per cycle keeps their pace.
  std::int64_t busy_above_ps = 1;
  std::int32_t route = 1, vc_alloc = 1;
  std::int32_t inject = 1;       // From card to router.
  std::int32_t sink_credit = 1;  // Back from the node.
  std::int32_t delay_max = 1;
  std::int64_t quiet_max = 1;  // Longer than a flit that may go on can wait for its turn.
};

// What does not change.
struct Setup {
  const Topology& topology;
  const Graph& graph;
  const Policy& policy;
  const PolicyFacts facts;
  const NetworkHardware machine;
  const FlitModel model;
  Timing timing;
  std::uint32_t vcs = 1;
  VcMask all_vcs = 1;
  std::int32_t buffer_flits = 1;
  std::int32_t output_flits = 0;  // Of a buffer at an output; 0: there are none.
  Crossbar crossbar;
  // The switch keeps the pace of the links, which are right behind it; no router has more ends than
  // stand in a word.
  bool is_plain = true;
  std::int64_t inject_ps = 0;  // A flit from the card.
  std::vector<Bytes> flowing;  // PortView::flowing() by class of cables.

  std::uint32_t flits_of(std::int64_t bytes) const {
    return static_cast<std::uint32_t>((bytes + machine.flit.count - 1) / machine.flit.count);
  }
  // Of a flit of the packet.
  std::uint64_t bytes_of(const Packet& packet, bool tail) const {
    const auto whole = static_cast<std::uint64_t>(machine.flit.count);
    return tail ? packet.bytes - (packet.flits - 1) * whole : whole;
  }
  bool is_buffered() const { return output_flits > 0; }
  // What the switch fills: a buffer at the output, or behind the link.
  std::int32_t switched_flits() const { return is_buffered() ? output_flits : buffer_flits; }
  // Queues of an output overtake one another: where the routing keeps the order of packets, those
  // for one node have one VC, from the card on, and keep it where they leave for the node.
  bool keeps_vcs() const { return is_buffered() && facts.in_order; }
  VcMask vcs_of(const Choice& choice, std::uint8_t vc) const {
    return choice.port == Choice::eject && keeps_vcs() ? VcMask{1} << vc : choice.vcs;
  }
  VcMask card_vcs(std::uint32_t to) const {
    return keeps_vcs() ? VcMask{1} << (to % vcs) : all_vcs;
  }
};

// Turns of all routers' allocators.
struct TurnTables {
  std::vector<std::uint16_t> inputs, outputs;
  std::vector<std::uint64_t> served;
  std::vector<std::size_t> first_served;  // By router; empty: no matrix arbiters.

  Turns of(std::uint32_t router, std::size_t first, std::uint32_t count) {
    return {count, inputs.data() + first, outputs.data() + first,
            first_served.empty() ? nullptr : served.data() + first_served[router]};
  }
};

// Which worker has which routers, and their numbers.
struct Placement {
  Placement(const Graph& graph, const Parts& parts);

  std::vector<RouterId> routers;                        // By number.
  std::vector<std::uint32_t> router_number;             // By RouterId.
  std::vector<NodeId> nodes;                            // By number.
  std::vector<std::uint32_t> node_number;               // By NodeId.
  std::vector<std::uint32_t> first_router, first_node;  // By worker, and the end.

  int workers() const { return static_cast<int>(first_router.size()) - 1; }
  // The worker that has the router or node of this number.
  int worker_of_router(std::uint32_t number) const { return owner(first_router, number); }
  int worker_of_node(std::uint32_t number) const { return owner(first_node, number); }

 private:
  static int owner(const std::vector<std::uint32_t>& first, std::uint32_t number);
};

// Of all workers.
struct Tables {
  Tables(const Setup& setup, const Parts& parts);

  const Placement placement;
  std::uint32_t ring_mask = 0;
  std::vector<Router> routers;
  std::vector<InEnd> in_ends;
  std::vector<OutEnd> out_ends;
  std::vector<InputVc> inputs;       // Of routers.
  std::vector<OutputVc> outputs;     // Of routers, then of cards.
  std::vector<std::uint32_t> rings;  // Packets, of inputs of routers.
  OutputBuffers buffers;
  std::vector<SwitchEnd> switch_ends;  // If the switch has a pace of its own.
  TurnTables vc_turns, switch_turns;
  std::int32_t window = 1;      // Cycles until a router may affect one of another worker.
  std::int32_t window_max = 1;  // The window may be this long, however the network is cut.

  // The link of an output end.
  const Passed& passed(std::uint32_t end) const {
    return buffers.ends.empty() ? out_ends[end].passed : buffers.ends[end].passed;
  }
  std::size_t bytes() const;
};

// What a worker works on: the tables, and what is its own.
struct State {
  State(const Setup& constants, Tables& tables, int number);

  const Setup setup;  // A copy, which stays in this worker's cache.
  const Placement& placement;
  const int worker;
  const std::uint32_t ring_mask;
  const std::span<Router> routers;
  const std::span<InEnd> in_ends;
  const std::span<OutEnd> out_ends;
  const std::span<InputVc> inputs;
  const std::span<OutputVc> outputs;
  const std::span<std::uint32_t> rings;
  const std::span<SwitchEnd> switch_ends;
  OutputBuffers& buffers;
  TurnTables &vc_turns, &switch_turns;
  Allocator vc_allocator, switch_allocator;
  Pool<Packet> packets;
  Pool<Choices> choices;
  Arrivals<FlitArrival> flits;
  Arrivals<CreditArrival> credits;
  NumberSet active;      // Routers with something to do.
  Mail mail;             // To other workers.
  News* news = nullptr;  // If the policy wants to know of lines.
  // While one input of a router asks for the switch, by output end: the VC that wants it.
  std::vector<std::uint8_t> asked;
  std::vector<Speculation> speculations;
  std::int64_t now = 0;
  std::int64_t moved_at = 0;  // The last cycle in which something arrived or passed on.
  std::uint64_t visits = 0;
  Failure failure;

  std::int64_t now_ps() const { return now * setup.timing.cycle_ps; }
  // The number of a router's VCs end where those of nodes begin.
  std::uint32_t router_vcs() const { return static_cast<std::uint32_t>(inputs.size()); }
  // And those of nodes where those of queues at outputs begin.
  std::uint32_t first_queue() const { return static_cast<std::uint32_t>(outputs.size()); }
  // A flit enters a link that was busy until `free_at_ps`. What was left of the cycle in which it
  // became free counts.
  std::int64_t busy_until(std::int64_t free_at_ps, std::int64_t flit_ps) const {
    const bool just = free_at_ps > now_ps() - setup.timing.cycle_ps;
    return (just ? free_at_ps : now_ps()) + flit_ps;
  }
  std::uint32_t& ring(std::uint32_t input, std::uint32_t position) {
    return rings[std::size_t{input} * (std::size_t{ring_mask} + 1) + (position & ring_mask)];
  }
  RouterId id_of(std::uint32_t router) const { return placement.routers[router]; }
  void note_failure(RouterId router, std::string text) {
    if (failure.text.empty()) failure = {now, router, std::move(text)};
  }
};

// Whether the flit model knows all that this machine and routing ask for.
Status check_flit_hardware(const Topology& topology, const NetworkHardware& machine,
                           const Policy& policy, const FlitModel& model);
Setup make_setup(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
                 const FlitModel& model);

}  // namespace weft::flits
