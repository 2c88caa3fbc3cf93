// SPDX-License-Identifier: Apache-2.0
// The state of an idle network, from its description.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include <weft/base/quantity.hpp>
#include <weft/simulate/flits/state.hpp>
#include <weft/simulate/router/line_table.hpp>

namespace weft::flits {
namespace {

std::uint32_t most_ends(const Graph& graph) {
  std::size_t most = 1;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    most = std::max(most, graph.ports(RouterId(r)).size() + graph.nodes_at(RouterId(r)).size());
  return static_cast<std::uint32_t>(most);
}

std::int32_t in_cycles(Duration time, std::int64_t cycle_ps) {
  return static_cast<std::int32_t>((time.in_ps() + cycle_ps / 2) / cycle_ps);
}

std::int64_t flit_ps(const NetworkHardware& machine, Rate rate) {
  return serialise(machine.flit, rate).in_ps();
}

// The cycle is the time of a flit on it.
Rate fastest_link(const Graph& graph, const NetworkHardware& machine) {
  Rate fastest = std::max(machine.injection_rate(), machine.ejection_rate());
  for (const std::string& name : graph.link_classes())
    fastest = std::max(fastest, machine.cabling(name).rate);
  return fastest;
}

Duration decisions(const NetworkHardware& m) {
  return m.route + m.vc_alloc;
}

// From the switch's allotment to being usable behind the cable.
std::int32_t forward_delay(const Setup& setup, const Cabling& cable) {
  const NetworkHardware& m = setup.machine;
  const std::int64_t cycle = setup.timing.cycle_ps;
  const Duration hop = decisions(m) + m.switch_alloc + m.switch_delay + cable.delay;
  return std::max(1, in_cycles(hop, cycle) - in_cycles(decisions(m), cycle));
}

// From the switch's allotment to the buffer at the output. 0: the flit may go on in that cycle.
std::int32_t switch_delay(const Setup& setup, const Cabling& cable) {
  const NetworkHardware& m = setup.machine;
  const std::int64_t cycle = setup.timing.cycle_ps;
  const std::int32_t through = in_cycles(decisions(m) + m.switch_alloc + m.switch_delay, cycle) -
                               in_cycles(decisions(m), cycle);
  return std::min(through, forward_delay(setup, cable) - 1);
}

std::int32_t credit_delay(const Setup& setup, const Cabling& cable) {
  return std::max(
      1, in_cycles(setup.machine.switch_alloc + cable.credit_delay, setup.timing.cycle_ps));
}

void place_router(Tables& tables, const Graph& graph, std::uint32_t r) {
  const RouterId id = tables.placement.routers[r];
  Router& router = tables.routers[r];
  router.first_end = static_cast<std::uint32_t>(tables.out_ends.size());
  router.ports = static_cast<std::uint16_t>(graph.ports(id).size());
  router.ends = static_cast<std::uint16_t>(router.ports + graph.nodes_at(id).size());
  tables.out_ends.resize(tables.out_ends.size() + router.ends);
}

// Behind an output end that is connected as if it had none.
void put_buffer(Tables& tables, const Setup& setup, std::uint32_t end, const Cabling& cable) {
  OutEnd& out = tables.out_ends[end];
  LinkEnd& link = tables.buffers.ends[end];
  link.target = out.target;
  link.remote_worker = std::exchange(out.remote_worker, nobody);
  link.flit_ps = out.flit_ps;
  link.delay = out.delay - switch_delay(setup, cable);
  out.target = static_cast<std::uint32_t>(tables.outputs.size()) + end * setup.vcs;
  out.delay = switch_delay(setup, cable);
  if (setup.machine.switch_rate != Rate()) out.flit_ps = 0;
}

void connect_node(Tables& tables, const Setup& setup, std::uint32_t end, NodeId node) {
  InEnd& in = tables.in_ends[end];
  OutEnd& out = tables.out_ends[end];
  const auto router_vcs = static_cast<std::uint32_t>(tables.inputs.size());
  out.target = in.feeder = router_vcs + tables.placement.node_number[node.index] * setup.vcs;
  out.delay = forward_delay(setup, setup.machine.node_link);
  in.credit_delay = credit_delay(setup, setup.machine.node_link);
  out.flit_ps = flit_ps(setup.machine, setup.machine.ejection_rate());
  if (setup.is_buffered()) put_buffer(tables, setup, end, setup.machine.node_link);
}

// A link to a router of another worker makes the window shorter.
void connect_port(Tables& tables, const Setup& setup, std::uint32_t r, const Port& port,
                  std::uint32_t end) {
  const std::uint32_t peer = tables.placement.router_number[port.peer.index];
  InEnd& in = tables.in_ends[end];
  OutEnd& out = tables.out_ends[end];
  const Cabling& cable = setup.machine.cabling(setup.graph.link_classes()[port.link_class]);
  out.target = in.feeder = (tables.routers[peer].first_end + port.peer_port) * setup.vcs;
  out.delay = forward_delay(setup, cable);
  in.credit_delay = credit_delay(setup, cable);
  out.flit_ps = flit_ps(setup.machine, cable.rate);
  const int owner = tables.placement.worker_of_router(peer);
  const bool is_remote = owner != tables.placement.worker_of_router(r);
  if (is_remote) in.remote_worker = out.remote_worker = static_cast<std::uint8_t>(owner);
  if (setup.is_buffered()) put_buffer(tables, setup, end, cable);
  const std::int32_t delay = setup.is_buffered() ? tables.buffers.ends[end].delay : out.delay;
  const std::int32_t least = std::min(delay, in.credit_delay);
  tables.window_max = std::max(tables.window_max, least);
  if (is_remote) tables.window = std::min(tables.window, least);
}

void connect_end(Tables& tables, const Setup& setup, std::uint32_t r, std::uint32_t end) {
  const RouterId id = tables.placement.routers[r];
  const Router& router = tables.routers[r];
  tables.out_ends[router.first_end + end].free = setup.all_vcs;
  if (end >= router.ports) {
    connect_node(tables, setup, router.first_end + end,
                 setup.graph.nodes_at(id)[end - router.ports]);
    return;
  }
  const Port& port = setup.graph.ports(id)[end];
  if (port.connected()) connect_port(tables, setup, r, port, router.first_end + end);
}

void make_buffers(Tables& tables, const Setup& setup) {
  OutputBuffers& buffers = tables.buffers;
  buffers.ring_mask = std::bit_ceil(static_cast<std::uint32_t>(setup.output_flits)) - 1;
  buffers.queues.resize(tables.inputs.size(), {.credits = setup.buffer_flits});
  buffers.ends.resize(tables.out_ends.size());
  buffers.sending.resize(tables.routers.size());
  buffers.rings.resize(buffers.queues.size() * (std::size_t{buffers.ring_mask} + 1));
  for (std::size_t output = 0; output < buffers.queues.size(); ++output)
    tables.outputs[output].credits = setup.output_flits;
}

// Tables for `per_end` inputs and outputs of each end.
TurnTables make_turns(const Tables& tables, const Setup& setup, std::uint32_t per_end) {
  TurnTables turns;
  turns.inputs.resize(tables.out_ends.size() * per_end);
  turns.outputs.resize(tables.out_ends.size() * per_end);
  if (setup.model.arbiter != Arbiter::matrix) return turns;
  std::size_t first = 0;
  for (const Router& router : tables.routers) {
    turns.first_served.push_back(first);
    const std::size_t count = std::size_t{router.ends} * per_end;
    first += count * count;
  }
  turns.served.resize(first);
  return turns;
}

}  // namespace

Setup make_setup(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
                 const FlitModel& model) {
  const Graph& graph = topology.graph;
  Setup setup{.topology = topology,
              .graph = graph,
              .policy = policy,
              .facts = policy.facts(),
              .machine = machine,
              .model = model,
              .timing = {},
              .vcs = static_cast<std::uint32_t>(machine.vcs),
              .all_vcs = vc_range(0, machine.vcs),
              .buffer_flits = static_cast<std::int32_t>(machine.buffer_size() / machine.flit),
              .output_flits = static_cast<std::int32_t>(machine.output_buffer / machine.flit),
              .crossbar = Crossbar::of(machine.switch_rate, fastest_link(graph, machine)),
              .inject_ps = flit_ps(machine, machine.injection_rate()),
              .flowing = {}};
  setup.is_plain =
      !setup.is_buffered() && !setup.crossbar.is_paced() && most_ends(graph) <= word_ends;
  Timing& t = setup.timing;
  t.cycle_ps = std::max<std::int64_t>(flit_ps(machine, fastest_link(graph, machine)), 1);
  // In several matchings an output without a buffer may not pass more than its link takes.
  t.busy_above_ps = t.cycle_ps - (setup.crossbar.rounds > 1 ? 1 : 0);
  t.route = in_cycles(machine.route, t.cycle_ps);
  t.vc_alloc = in_cycles(decisions(machine), t.cycle_ps) - t.route;
  t.inject = std::max(1, in_cycles(machine.inject_delay + machine.node_link.delay, t.cycle_ps));
  t.sink_credit = std::max(1, in_cycles(machine.node_link.credit_delay, t.cycle_ps));
  t.delay_max = std::max({t.inject, t.sink_credit, forward_delay(setup, machine.node_link),
                          credit_delay(setup, machine.node_link)});
  std::int64_t slowest_ps = std::max(flit_ps(machine, machine.injection_rate()),
                                     flit_ps(machine, machine.ejection_rate()));
  for (const std::string& name : graph.link_classes()) {
    const Cabling& cable = machine.cabling(name);
    setup.flowing.push_back(machine.flowing(cable));
    t.delay_max = std::max({t.delay_max, forward_delay(setup, cable), credit_delay(setup, cable)});
    slowest_ps = std::max(slowest_ps, flit_ps(machine, cable.rate));
  }
  constexpr std::int64_t quiet_least = 65'536;
  t.quiet_max =
      quiet_least + 2 * std::max(slowest_ps / t.cycle_ps, setup.crossbar.flit / Crossbar::cycle);
  return setup;
}

Placement::Placement(const Graph& graph, const Parts& parts)
    : router_number(graph.router_count()), node_number(graph.node_count()) {
  for (int w = 0; w < parts.count(); ++w) {
    const auto part = static_cast<std::size_t>(w);
    first_router.push_back(static_cast<std::uint32_t>(routers.size()));
    first_node.push_back(static_cast<std::uint32_t>(nodes.size()));
    const auto first = static_cast<std::ptrdiff_t>(nodes.size());
    for (std::uint32_t i = parts.first[part]; i < parts.first[part + 1]; ++i) {
      const RouterId router(parts.order[i]);
      router_number[router.index] = static_cast<std::uint32_t>(routers.size());
      routers.push_back(router);
      for (const NodeId node : graph.nodes_at(router)) nodes.push_back(node);
    }
    std::sort(nodes.begin() + first, nodes.end(),
              [](NodeId a, NodeId b) { return a.index < b.index; });
  }
  first_router.push_back(static_cast<std::uint32_t>(routers.size()));
  first_node.push_back(static_cast<std::uint32_t>(nodes.size()));
  for (std::uint32_t n = 0; n < nodes.size(); ++n) node_number[nodes[n].index] = n;
}

int Placement::owner(const std::vector<std::uint32_t>& first, std::uint32_t number) {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), number) - first.begin()) - 1;
}

Tables::Tables(const Setup& setup, const Parts& parts)
    : placement(setup.graph, parts),
      ring_mask(std::bit_ceil(static_cast<std::uint32_t>(setup.buffer_flits)) - 1),
      routers(setup.graph.router_count()),
      window(std::numeric_limits<std::int32_t>::max()) {
  for (std::uint32_t r = 0; r < routers.size(); ++r) place_router(*this, setup.graph, r);
  in_ends.resize(out_ends.size());
  inputs.resize(out_ends.size() * setup.vcs);
  outputs.resize((out_ends.size() + setup.graph.node_count()) * setup.vcs,
                 {.credits = setup.buffer_flits});
  rings.resize(inputs.size() * (std::size_t{ring_mask} + 1));
  if (setup.crossbar.is_paced()) switch_ends.resize(out_ends.size());
  if (setup.is_buffered()) make_buffers(*this, setup);
  for (std::uint32_t r = 0; r < routers.size(); ++r) {
    for (std::uint32_t end = 0; end < routers[r].ends; ++end) {
      connect_end(*this, setup, r, end);
      for (std::uint32_t vc = 0; vc < setup.vcs; ++vc) {
        InputVc& in = inputs[(routers[r].first_end + end) * setup.vcs + vc];
        in.router = r;
        in.port = static_cast<std::uint16_t>(end);
        in.vc = static_cast<std::uint8_t>(vc);
      }
    }
  }
  vc_turns = make_turns(*this, setup, setup.vcs);
  switch_turns = make_turns(*this, setup, 1);
  window = std::min(window, window_max);
}

std::size_t Tables::bytes() const {
  return routers.size() * sizeof(Router) + in_ends.size() * sizeof(InEnd) +
         out_ends.size() * sizeof(OutEnd) + inputs.size() * sizeof(InputVc) +
         outputs.size() * sizeof(OutputVc) + rings.size() * sizeof(std::uint32_t) +
         switch_ends.size() * sizeof(SwitchEnd) + buffers.queues.size() * sizeof(OutputQueue) +
         buffers.ends.size() * sizeof(LinkEnd) + buffers.sending.size() * sizeof(std::uint64_t) +
         buffers.rings.size() * sizeof(std::uint32_t);
}

State::State(const Setup& constants, Tables& tables, int number)
    : setup(constants),
      placement(tables.placement),
      worker(number),
      ring_mask(tables.ring_mask),
      routers(tables.routers),
      in_ends(tables.in_ends),
      out_ends(tables.out_ends),
      inputs(tables.inputs),
      outputs(tables.outputs),
      rings(tables.rings),
      switch_ends(tables.switch_ends),
      buffers(tables.buffers),
      vc_turns(tables.vc_turns),
      switch_turns(tables.switch_turns),
      vc_allocator(setup.model, most_ends(setup.graph) * setup.vcs),
      switch_allocator(setup.model, most_ends(setup.graph)),
      flits(setup.timing.delay_max),
      credits(setup.timing.delay_max),
      active(placement.first_router[static_cast<std::size_t>(number)],
             placement.first_router[static_cast<std::size_t>(number) + 1]),
      mail(placement.workers()),
      asked(most_ends(setup.graph)) {}

// VCs of a router have 16 bits.
constexpr std::uint64_t buffers_max = 65'535;

// Of VCs that matrix arbiters remember: 2 GiB.
constexpr std::uint64_t pairs_max = std::uint64_t{1} << 28;

Status check_flit_hardware(const Topology& topology, const NetworkHardware& machine,
                           const Policy& policy, const FlitModel& model) {
  const auto per_packet =
      (machine.packet_max().count + machine.flit.count - 1) / machine.flit.count;
  const auto too_small = [&](const char* key, Bytes buffer) {
    return Error::input(std::string(key) + " of " + to_text(buffer) + " holds " +
                        std::to_string(buffer / machine.flit) + " flits, but a packet has " +
                        std::to_string(per_packet) + "; enlarge the buffer");
  };
  if (machine.buffer_size() / machine.flit < per_packet)
    return too_small("router.buffer", machine.buffer_size());
  if (machine.output_buffer.count > 0 && machine.output_buffer / machine.flit < per_packet)
    return too_small("router.output_buffer", machine.output_buffer);
  const Rate fastest = fastest_link(topology.graph, machine);
  if (machine.switch_rate != Rate() &&
      fastest.in_bit_per_s() / machine.switch_rate.in_bit_per_s() >= Crossbar::cycles_max)
    return Error::input("router.switch_rate of " + to_text(machine.switch_rate) +
                        " is too slow for the flit model beside links of " + to_text(fastest) +
                        "; make it faster, or use --model packet");
  if (const Lines* const lines = policy.lines(); lines != nullptr) {
    if (Status status = detail::check_news(*lines, machine.news); !status) return status;
  }
  if (model.flow_control == FlowControl::wormhole && policy.facts().returns)
    return Error::input(
        "flit_router.flow_control: this routing lets packets leave escape channels, which may lock "
        "up with \"wormhole\"; use \"cut-through\"");
  if (model.flow_control == FlowControl::wormhole && machine.release == Release::tail)
    return Error::input(
        "flit_router.flow_control: \"wormhole\" needs credits for each flit; set router.release = "
        "\"head\"");
  const std::uint32_t most = most_ends(topology.graph);
  const std::uint64_t pairs = std::uint64_t{most} * most * static_cast<std::uint64_t>(machine.vcs) *
                              static_cast<std::uint64_t>(machine.vcs) *
                              topology.graph.router_count();
  if (model.arbiter == Arbiter::matrix && pairs > pairs_max)
    return Error::input(
        "flit_router.arbiter: \"matrix\" remembers every pair of VCs of a router, which are too "
        "many in a network of this size; use \"round-robin\"");
  if (std::uint64_t{most} * static_cast<std::uint64_t>(machine.vcs) > buffers_max)
    return Error::input("a router has " + std::to_string(most) + " ports and nodes with " +
                        std::to_string(machine.vcs) +
                        " virtual channels each; the flit model takes at most " +
                        std::to_string(buffers_max) +
                        " together, so make router.vcs smaller, or use --model packet");
  return {};
}

}  // namespace weft::flits
