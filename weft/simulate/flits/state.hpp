// SPDX-License-Identifier: Apache-2.0
// The routers of the flit model: records that are as compact as possible, in arrays of the whole
// network. Times are numbers of cycles unless their names say ps.
//
// A router has ends: its ports to other routers, then its nodes. An end has an input and an output
// with as many VCs each; VC v of end e is number e * vcs + v, among inputs as among outputs. Behind
// them, in the same way, come the VCs of nodes: what a node's card sends into counts as outputs,
// what it takes out of as inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/pool.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/flits/allocator.hpp>
#include <weft/simulate/flits/arrivals.hpp>
#include <weft/simulate/flits/flit_model.hpp>
#include <weft/simulate/router/hardware.hpp>

namespace weft::flits {

inline constexpr std::uint32_t none = 0xffff'ffffu;
inline constexpr std::uint8_t nobody = 0xff;
inline constexpr int ends_max = 64;  // Of a router: they stand in one word.

struct Packet {
  std::uint32_t message = none;
  std::uint32_t to = 0;  // Node.
  std::uint32_t flits = 0, bytes = 0;
  std::uint64_t route = 0;   // Flight::state.
  std::int64_t head_at = 0;  // Its head arrived at the router that it is in, or at the node.
  std::int64_t born_ps = 0;
  std::uint32_t from = 0;
  std::uint32_t hops = 0;
};

// Packets pass a VC one after the other. Those that have a flit in it, or whose flits are still to
// come behind the head, stand in its ring.
struct InputVc {
  std::uint32_t router = 0;
  std::uint8_t port = 0, vc = 0;
  std::uint8_t out_port = 0;         // Allotted to the first packet.
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
  std::int32_t credits = 0;    // Flits.
  std::uint32_t owner = none;  // Input VC that it is allotted to.
};

struct InEnd {
  VcMask unrouted = 0, waiting = 0, ready = 0;  // Stages of its VCs; ready: could use the switch.
  std::uint32_t feeder = none;                  // First output VC of the other side.
  std::int32_t credit_delay = 1;
  std::uint8_t vc_turn = 0;
  std::uint8_t held = nobody;  // The VC whose packet keeps the switch.
};

struct OutEnd {
  VcMask free = 0;                // Allotted to nobody.
  std::uint32_t target = none;    // First input VC of the other side.
  std::int32_t delay = 1;         // From the switch to being usable there.
  std::uint8_t held_by = nobody;  // Input end.
  std::int64_t flit_ps = 0;
  std::int64_t free_at_ps = 0;  // Where a flit takes longer than a cycle.
  std::uint64_t packets = 0, bytes = 0;
};

struct Router {
  std::uint64_t unrouted = 0, waiting = 0, ready = 0;  // Ends whose VCs are in these stages.
  std::uint32_t first_end = 0;
  std::uint16_t ends = 0, ports = 0;
};

// A flit that arrives. Only heads and tails say whose they are.
struct FlitArrival {
  std::uint32_t input;
  std::uint32_t packet;  // none: in the middle.
  bool head, tail;
};
struct CreditArrival {
  std::uint32_t output;
  std::uint32_t count;
};

// A head that asks for a VC of this output end, and at the same time for the switch.
struct Speculation {
  std::uint32_t input;
  std::uint8_t out_port;
};

// A set of small numbers, in order.
class NumberSet {
 public:
  explicit NumberSet(std::uint32_t count) : words_((std::size_t{count} + 63) / 64) {}
  void add(std::uint32_t n) { words_[n / 64] |= std::uint64_t{1} << (n % 64); }
  void remove(std::uint32_t n) { words_[n / 64] &= ~(std::uint64_t{1} << (n % 64)); }
  bool empty() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }
  // Calls visit(n) for each; it may remove n and add any.
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit(static_cast<std::uint32_t>(w * 64) +
              static_cast<std::uint32_t>(__builtin_ctzll(word)));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Stages in cycles. A hop is rounded to whole cycles once, as a sum.
struct Timing {
  std::int64_t cycle_ps = 1;
  std::int32_t route = 1, vc_alloc = 1;
  std::int32_t inject = 1;       // From card to router.
  std::int32_t sink_credit = 1;  // Back from the node.
  std::int32_t delay_max = 1;
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
  std::int64_t inject_ps = 0;  // A flit from the card.
  std::vector<Bytes> flowing;  // PortView::flowing() by class of cables.

  std::uint32_t flits_of(std::int64_t bytes) const {
    return static_cast<std::uint32_t>((bytes + machine.flit.count - 1) / machine.flit.count);
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

struct State {
  explicit State(Setup&& from);

  const Setup setup;
  std::vector<Router> routers;
  std::vector<InEnd> in_ends;
  std::vector<OutEnd> out_ends;
  std::vector<InputVc> inputs;    // Of routers.
  std::vector<OutputVc> outputs;  // Of routers, then of cards.
  std::uint32_t ring_mask = 0;
  std::vector<std::uint32_t> rings;  // Packets, of inputs of routers.
  TurnTables vc_turns, switch_turns;
  Allocator vc_allocator, switch_allocator;
  Pool<Packet> packets;
  Pool<Choices> choices;
  Arrivals<FlitArrival> flits;
  Arrivals<CreditArrival> credits;
  NumberSet active;  // Routers with something to do.
  // While one router allots its switch. By output end: the VC of one input that asks for it; and of
  // every input, as input * ends_max + output.
  std::vector<std::uint8_t> asked, switch_vcs;
  std::vector<Speculation> speculations;
  std::int64_t now = 0;
  std::uint64_t visits = 0;
  std::string failure;

  std::int64_t now_ps() const { return now * setup.timing.cycle_ps; }
  // The number of a router's VCs end where those of nodes begin.
  std::uint32_t router_vcs() const { return static_cast<std::uint32_t>(inputs.size()); }
  std::uint32_t& ring(std::uint32_t input, std::uint32_t position) {
    return rings[std::size_t{input} * (std::size_t{ring_mask} + 1) + (position & ring_mask)];
  }
};

// Whether the flit model knows all that this machine and routing ask for.
Status check_flit_hardware(const Topology& topology, const NetworkHardware& machine,
                           const Policy& policy, const FlitModel& model);
Setup make_setup(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
                 const FlitModel& model);

}  // namespace weft::flits
