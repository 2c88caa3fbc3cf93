// SPDX-License-Identifier: Apache-2.0
#include "tests/property/oracle.hpp"

#include <algorithm>

#include <weft/base/check.hpp>

namespace weft::test {

class Oracle::View final : public PortView {
 public:
  View(Oracle& oracle, std::uint32_t router) : oracle_(oracle), router_(router) {}
  bool up(int port) const override {
    return oracle_.topology_.graph.ports(RouterId(router_))[static_cast<std::size_t>(port)]
        .usable();
  }
  Bytes free(int port, int vc) const override {
    Buffer& buffer = oracle_.buffers_[out(port).target + static_cast<std::size_t>(vc)];
    oracle_.settle(buffer);
    return Bytes{buffer.room};
  }
  LineNews line(int port, int line) const override {
    return oracle_.line_seen(router_, port, line);
  }
  Bytes queued(int port) const override {
    std::int64_t sum = 0;
    const auto ends = static_cast<int>(oracle_.ins_[router_].size());
    const bool buffered = oracle_.machine_.output_buffer.count > 0;
    for (int v = 0; v < oracle_.machine_.vcs; ++v) {
      const Bytes near = buffered ? oracle_.machine_.output_buffer : oracle_.machine_.buffer_size();
      sum += near.count - free(port, v).count;
      if (buffered) sum += oracle_.machine_.buffer_size().count - free(port + ends, v).count;
    }
    for (int c = 0; c < out(port).candidate_count; ++c) {
      const Buffer& b = oracle_.buffers_[out(port).candidates + static_cast<std::size_t>(c)];
      if (oracle_.committing_ && b.port >= 0 && !b.committed) continue;
      if (oracle_.way_to(b, port) != nullptr) sum += b.packets.front().size;
    }
    return Bytes{sum};
  }
  // Grant, switch, cable, decisions behind it, the packet's leaving, and the credit's way back.
  Bytes flowing(int port) const override {
    const NetworkHardware& m = oracle_.machine_;
    const Graph& graph = oracle_.topology_.graph;
    const Port& there = graph.ports(RouterId(router_))[static_cast<std::size_t>(port)];
    const Cabling& cable = m.cabling(graph.link_classes()[there.link_class]);
    const Bytes leaving =
        m.release == Release::tail ? m.packet_max() : std::min(m.flit, m.packet_max());
    const Duration loop = m.switch_alloc + m.switch_delay + cable.delay + m.route + m.vc_alloc +
                          serialise(leaving, cable.rate) + m.switch_alloc + cable.credit_delay +
                          m.vc_alloc;
    return Bytes{static_cast<std::int64_t>(static_cast<detail::Wide>(cable.rate.in_bit_per_s()) *
                                           loop.in_ps() / 8'000'000'000'000)};
  }

 private:
  const Out& out(int port) const { return oracle_.outs_[router_][static_cast<std::size_t>(port)]; }
  Oracle& oracle_;
  std::uint32_t router_;
};

Oracle::Oracle(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
               std::uint64_t seed)
    : topology_(topology),
      machine_(machine),
      policy_(policy),
      committing_((machine.commit || policy.facts().again) && policy.facts().choices_max > 1),
      bits_(Rng(seed).stream("packet")) {
  build();
  build_news();
}

std::size_t Oracle::add_buffers(int port, std::int64_t size, int packets) {
  const std::size_t first = buffers_.size();
  for (int v = 0; v < machine_.vcs; ++v) {
    Buffer buffer;
    buffer.port = port;
    buffer.room = size;
    buffer.packets_max = machine_.packets_per_buffer > 0 ? machine_.packets_per_buffer : packets;
    buffers_.push_back(buffer);
  }
  return first;
}

void Oracle::wire(Out& out, std::size_t target, const Cabling& cable, bool through_switch,
                  bool cabled) {
  out.connected = true;
  out.target = target;
  out.rate = cable.rate.in_bit_per_s();
  const std::int64_t crossbar = machine_.switch_rate.in_bit_per_s();
  if (through_switch) {
    out.delay += (machine_.switch_alloc + machine_.switch_delay).in_ps();
    out.alloc = machine_.vc_alloc.in_ps();
    if (crossbar > 0 && (!cabled || crossbar < out.rate)) out.rate = crossbar;
  }
  if (cabled) out.delay += cable.delay.in_ps();
  for (int v = 0; v < machine_.vcs; ++v) {
    Buffer& buffer = buffers_[target + static_cast<std::size_t>(v)];
    buffer.feeder_rate = out.rate;
    buffer.credit_delay = out.alloc;
    if (!cabled) continue;
    buffer.credit_delay += cable.credit_delay.in_ps();
    if (!out.node) buffer.credit_delay += machine_.switch_alloc.in_ps();
  }
}

void Oracle::build() {
  const Graph& graph = topology_.graph;
  const bool buffered = machine_.output_buffer.count > 0;
  const auto packets = [&](Bytes b) {
    return static_cast<int>(std::max<std::int64_t>(1, b / machine_.packet_max()));
  };
  const std::int64_t size = machine_.buffer_size().count;
  outs_.resize(graph.router_count());
  ins_.resize(graph.router_count());
  crossbar_.resize(graph.router_count());
  vc_pointer_.resize(graph.router_count());
  cards_.resize(graph.node_count());
  std::vector<std::vector<std::size_t>> queues(graph.router_count()), sinks(graph.router_count());
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const std::size_t ends = graph.ports(RouterId(r)).size() + graph.nodes_at(RouterId(r)).size();
    for (std::size_t e = 0; e < ends; ++e)
      ins_[r].push_back(add_buffers(static_cast<int>(e), size, packets(machine_.buffer_size())));
    for (std::size_t e = 0; buffered && e < ends; ++e) {
      queues[r].push_back(
          add_buffers(-1, machine_.output_buffer.count, packets(machine_.output_buffer)));
    }
    for (std::size_t n = 0; n < graph.nodes_at(RouterId(r)).size(); ++n) {
      sinks[r].push_back(add_buffers(-1, size, packets(machine_.buffer_size())));
    }
    crossbar_[r].assign(ends, 0);
  }
  Cabling inject = machine_.node_link, eject = machine_.node_link;
  if (machine_.inject_rate > Rate()) inject.rate = std::min(inject.rate, machine_.inject_rate);
  if (machine_.eject_rate > Rate()) eject.rate = std::min(eject.rate, machine_.eject_rate);
  inject.delay += machine_.inject_delay;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const auto ports = graph.ports(RouterId(r));
    const std::size_t ends = ins_[r].size();
    outs_[r].resize(ends * (buffered ? 2 : 1) + sinks[r].size());
    for (std::size_t e = 0; e < ends; ++e) {
      const bool node = e >= ports.size();
      Cabling cable = node ? eject : machine_.link;
      if (!node) {
        const auto own = machine_.link_class.find(graph.link_classes()[ports[e].link_class]);
        if (own != machine_.link_class.end()) cable = own->second;
      }
      Out& first = outs_[r][e];
      first.crossbar = true;
      first.candidates = ins_[r][0];
      first.candidate_count = static_cast<int>(ends) * machine_.vcs;
      first.own_from = static_cast<int>(ports.size()) * machine_.vcs;
      Out& last = outs_[r][e + (buffered ? ends : 0)];
      if (buffered) {
        wire(first, queues[r][e], cable, true, false);
        last.candidates = queues[r][e];
        last.candidate_count = machine_.vcs;
        last.own_from = machine_.vcs;
      }
      last.link = !node;
      last.node = node;
      if (node) {
        wire(last, sinks[r][e - ports.size()], cable, !buffered, true);
      } else if (ports[e].connected()) {
        wire(last, ins_[ports[e].peer.index][ports[e].peer_port], cable, !buffered, true);
      }
    }
    for (std::size_t n = 0; n < sinks[r].size(); ++n) {
      const std::size_t o = ends * (buffered ? 2 : 1) + n;
      wire(outs_[r][o], ins_[r][ports.size() + n], inject, false, true);
      cards_[graph.nodes_at(RouterId(r))[n].index].out = o;
    }
  }
}

std::int64_t Oracle::serialise_ps(std::int64_t size, std::int64_t rate) const {
  return serialise(Bytes{std::max<std::int64_t>(size, 0)}, Rate::bit_per_s(rate)).in_ps();
}

// Counts the credits that have come back by now.
void Oracle::settle(Buffer& buffer) {
  while (!buffer.credits.empty() && buffer.credits.front().first <= now_) {
    buffer.room += buffer.credits.front().second;
    --buffer.packets_held;
    buffer.credits.pop_front();
  }
}

const Choice* Oracle::way_to(const Buffer& buffer, int output) const {
  for (const Choice& way : buffer.ways) {
    if (way.port == output) return &way;
  }
  return nullptr;
}

// The first way to the output that has a VC: a policy may offer it as escape, too.
int Oracle::pick_way(const Buffer& buffer, const Out& out, int output, const Choice*& way) {
  for (const Choice& one : buffer.ways) {
    if (one.port != output) continue;
    way = &one;
    if (const int vc = pick_vc(out, one.vcs, buffer.packets.front().size); vc >= 0) return vc;
  }
  return -1;
}

int Oracle::pick_vc(const Out& out, VcMask vcs, std::int64_t size) {
  int best = -1;
  std::int64_t most = -1;
  for (int i = 1; i <= machine_.vcs; ++i) {
    const int vc = (out.last_vc + i) % machine_.vcs;
    Buffer& buffer = buffers_[out.target + static_cast<std::size_t>(vc)];
    if (((vcs >> vc) & 1) == 0 || buffer.vc_free > now_) continue;
    settle(buffer);
    if (buffer.room < size || buffer.packets_held >= buffer.packets_max || buffer.room <= most)
      continue;
    most = buffer.room;
    best = vc;
  }
  return best;
}

bool Oracle::movable(std::uint32_t r, const Buffer& buffer) const {
  if (buffer.packets.empty() || buffer.ways.empty() || buffer.ready > now_) return false;
  return buffer.port < 0 || crossbar_[r][static_cast<std::size_t>(buffer.port)] <= now_;
}

void Oracle::ask(std::uint32_t r, Buffer& buffer) {
  const Graph& graph = topology_.graph;
  const Packet& head = buffer.packets.front();
  Flight flight;
  flight.destination_node = NodeId(jobs_[head.job].to);
  flight.source_node = NodeId(jobs_[head.job].from);
  flight.destination = graph.router_of(flight.destination_node);
  flight.hops = static_cast<std::uint8_t>(head.hops);
  flight.state = head.state;
  Choices choices;
  policy_.next(RouterId(r), flight, View(*this, r), choices);
  WEFT_CHECK(!choices.empty());
  buffer.ways.clear();
  for (Choice way : choices.all()) {
    if (way.port == Choice::eject) {
      way.port = static_cast<std::uint16_t>(
          graph.ports(RouterId(r)).size() +
          static_cast<std::size_t>(graph.local_index(flight.destination_node)));
      const auto number = static_cast<std::size_t>(&buffer - &buffers_[ins_[r][0]]);
      if (machine_.output_buffer.count > 0 && policy_.facts().in_order)
        way.vcs = VcMask{1} << (number % static_cast<std::size_t>(machine_.vcs));
    }
    buffer.ways.push_back(way);
  }
}

bool Oracle::route_heads(std::uint32_t r) {
  bool acted = false;
  for (std::size_t b = ins_[r][0]; b < ins_[r].back() + static_cast<std::size_t>(machine_.vcs);
       ++b) {
    Buffer& buffer = buffers_[b];
    if (buffer.packets.empty() || !buffer.ways.empty()) continue;
    const Packet& head = buffer.packets.front();
    const std::int64_t known =
        machine_.lookahead ? std::max(head.head + machine_.route.in_ps(), buffer.free_since)
                           : std::max(head.head, buffer.free_since) + machine_.route.in_ps();
    if (known > now_) {
      at(known);
      continue;
    }
    ask(r, buffer);
    const std::int64_t work = (machine_.route + machine_.vc_alloc).in_ps();
    buffer.ready = machine_.lookahead ? std::max(head.head + work, buffer.free_since)
                                      : std::max(head.head, buffer.free_since) + work;
    at(buffer.ready);
    acted = true;
  }
  return acted;
}

// Round robin; candidates from `own` on go last where through traffic goes first.
std::vector<int> Oracle::in_turn(int pointer, int own, int count) const {
  std::vector<int> order;
  const auto add = [&](int begin, int end) {
    for (int c = begin; c < end; ++c) order.push_back(c);
  };
  if (machine_.arbitration != Arbitration::through_first) own = count;
  const int low = std::min(pointer, own), high = std::max(pointer, own);
  add(low, own), add(0, low), add(high, count), add(own, high);
  return order;
}

// Heads that hold no VC yet take the best that is free.
bool Oracle::allocate_vcs(std::uint32_t r) {
  bool acted = false;
  const int own = static_cast<int>(topology_.graph.ports(RouterId(r)).size()) * machine_.vcs;
  const int count = static_cast<int>(ins_[r].size()) * machine_.vcs;
  for (const int c : in_turn(vc_pointer_[r], own, count)) {
    Buffer& buffer = buffers_[ins_[r][0] + static_cast<std::size_t>(c)];
    if (buffer.packets.empty() || buffer.ways.empty()) continue;
    if (buffer.committed || buffer.ready > now_) continue;
    if (policy_.facts().again) ask(r, buffer);
    for (Choice way : buffer.ways) {
      const Out& out = outs_[r][way.port];
      const int vc = pick_vc(out, way.vcs, buffer.packets.front().size);
      if (vc < 0) continue;
      way.vcs = VcMask{1} << vc;
      buffer.ways = {way};
      buffer.committed = acted = true;
      buffers_[out.target + static_cast<std::size_t>(vc)].vc_free = INT64_MAX;
      vc_pointer_[r] = c + 1;
      break;
    }
  }
  return acted;
}

bool Oracle::serve(std::uint32_t r, int output, std::vector<int> in_service) {
  Out& out = outs_[r][static_cast<std::size_t>(output)];
  in_service.push_back(output);
  std::set<int> tried;
  bool acted = false;
  for (;;) {
    if (out.free > now_) return acted;
    const std::vector<int> order = in_turn(
        out.pointer, out.crossbar ? out.own_from : out.candidate_count, out.candidate_count);
    int winner = -1, winner_vc = -1;
    Choice winner_way;
    for (const int c : order) {
      const Buffer& buffer = buffers_[out.candidates + static_cast<std::size_t>(c)];
      const Choice* way = way_to(buffer, output);
      if (!movable(r, buffer) || way == nullptr) continue;
      if (committing_ && out.crossbar && !buffer.committed) continue;
      int vc = pick_way(buffer, out, output, way);
      if (buffer.committed) {
        vc = 0;
        while (((way->vcs >> vc) & 1) == 0) ++vc;
      }
      if (vc < 0) continue;
      if (winner >= 0) {
        const Job& a = jobs_[buffer.packets.front().job];
        const Job& b =
            jobs_[buffers_[out.candidates + static_cast<std::size_t>(winner)].packets.front().job];
        if (machine_.arbitration != Arbitration::age ||
            std::pair(a.born, a.from) >= std::pair(b.born, b.from))
          continue;
      }
      winner = c;
      winner_vc = vc;
      winner_way = *way;
    }
    if (winner < 0) return acted;
    const std::size_t from = out.candidates + static_cast<std::size_t>(winner);
    int better = -1;
    if (machine_.arbitration != Arbitration::age && !committing_) {
      for (const Choice& way : buffers_[from].ways) {
        if (way.port == output) break;
        const Out& other = outs_[r][way.port];
        const bool busy =
            std::find(in_service.begin(), in_service.end(), int{way.port}) != in_service.end();
        if (busy || other.free > now_ ||
            pick_vc(other, way.vcs, buffers_[from].packets.front().size) < 0)
          continue;
        if (tried.count(way.port) == 0) better = way.port;
        break;
      }
    }
    if (better < 0) {
      out.pointer = winner + 1;
      send(r, out, from, winner_vc, winner_way);
      return true;
    }
    tried.insert(better);
    acted |= serve(r, better, in_service);
  }
}

void Oracle::send(std::uint32_t r, Out& out, std::size_t from, int vc, const Choice& way) {
  Buffer& source = buffers_[from];
  Packet packet = source.packets.front();
  packet.state = way.state;
  const std::int64_t flit = serialise_ps(std::min(packet.size, machine_.flit.count), out.rate);
  const std::int64_t tail =
      std::max(now_ + serialise_ps(packet.size - machine_.flit.count, out.rate), packet.tail);
  out.free = tail + flit;
  out.last_vc = vc;
  at(out.free);
  std::int64_t gone = tail;
  if (machine_.release == Release::head) {
    gone =
        std::max(now_, tail - serialise_ps(packet.size - machine_.flit.count, source.feeder_rate));
  }
  source.packets.pop_front();
  source.ways.clear();
  source.committed = false;
  source.free_since = tail + flit;
  source.credits.emplace_back(gone + source.credit_delay, packet.size);
  at(gone + source.credit_delay);
  at(source.free_since);
  if (source.port >= 0) crossbar_[r][static_cast<std::size_t>(source.port)] = out.free;
  Buffer& target = buffers_[out.target + static_cast<std::size_t>(vc)];
  target.room -= packet.size;
  ++target.packets_held;
  target.vc_free = machine_.lookahead ? 0 : out.free + out.alloc;
  at(out.free + out.alloc);
  packet.head = now_ + out.delay;
  packet.tail = tail + out.delay;
  if (out.link) ++packet.hops;
  at(packet.head);
  if (out.node) {
    target.credits.emplace_back(packet.tail + target.credit_delay, packet.size);
    at(packet.tail + target.credit_delay);
    missing_[packet.job] -= packet.payload;
    if (missing_[packet.job] == 0)
      arrived_[packet.job] = packet.tail + machine_.eject_delay.in_ps();
    return;
  }
  target.packets.push_back(packet);
}

// What was posted before has its turn before what is posted now.
bool Oracle::serve_card(std::uint32_t r, int node) {
  const NodeId id = topology_.graph.nodes_at(RouterId(r))[static_cast<std::size_t>(node)];
  if (send_packet(r, id.index)) return true;
  return post_jobs(cards_[id.index]) && send_packet(r, id.index);
}

// One queue for all jobs, or one for each destination.
bool Oracle::post_jobs(Card& card) {
  bool any = false;
  while (!card.jobs.empty() && jobs_[card.jobs.front()].born <= now_) {
    const std::size_t job = card.jobs.front();
    card.jobs.pop_front();
    any = true;
    const std::uint32_t number = machine_.order == SendOrder::queue ? 0 : jobs_[job].to;
    const auto found = std::find_if(card.round.begin(), card.round.end(),
                                    [&](const auto& queue) { return queue.first == number; });
    if (found != card.round.end())
      found->second.push_back(job);
    else
      card.round.push_back({number, {job}});
  }
  return any;
}

bool Oracle::send_packet(std::uint32_t r, std::uint32_t node) {
  Card& card = cards_[node];
  Out& out = outs_[r][card.out];
  if (card.round.empty() || out.free > now_) return false;
  const std::size_t job = card.round.front().second.front();
  Packet packet = {};
  packet.job = job;
  packet.payload = std::min(jobs_[job].size - sent_[job], machine_.mtu.count);
  packet.size = std::max<std::int64_t>(1, packet.payload + machine_.header.count);
  VcMask vcs = vc_range(0, machine_.vcs);
  if (policy_.facts().in_order)
    vcs = VcMask{1} << (jobs_[job].to % static_cast<std::uint32_t>(machine_.vcs));
  const int vc = pick_vc(out, vcs, packet.size);
  if (vc < 0) return false;
  packet.state = bits_.at((std::uint64_t{node} << 32) | card.packets++);
  sent_[job] += packet.payload;
  auto queue = std::move(card.round.front());
  card.round.pop_front();
  if (sent_[job] == jobs_[job].size) queue.second.pop_front();
  if (!queue.second.empty()) card.round.push_back(std::move(queue));
  const std::int64_t tail = now_ + serialise_ps(packet.size - machine_.flit.count, out.rate);
  out.free = tail + serialise_ps(std::min(packet.size, machine_.flit.count), out.rate);
  out.last_vc = vc;
  Buffer& target = buffers_[out.target + static_cast<std::size_t>(vc)];
  target.room -= packet.size;
  ++target.packets_held;
  packet.head = now_ + out.delay;
  packet.tail = tail + out.delay;
  at(out.free);
  at(packet.head);
  target.packets.push_back(packet);
  return true;
}

// The first part in order that can act at this time does so.
bool Oracle::act_once(std::uint32_t r) {
  const std::size_t cards = topology_.graph.nodes_at(RouterId(r)).size();
  const std::size_t outputs = outs_[r].size() - cards;
  if (route_heads(r)) return true;
  if (committing_ && allocate_vcs(r)) return true;
  for (std::size_t o = ins_[r].size(); o < outputs; ++o) {  // Heads of output buffers have one way.
    Out& out = outs_[r][o];
    for (int v = 0; v < out.candidate_count; ++v) {
      Buffer& b = buffers_[out.candidates + static_cast<std::size_t>(v)];
      if (b.packets.empty() || !b.ways.empty()) continue;
      b.ways.push_back({.port = static_cast<std::uint16_t>(o),
                        .vcs = VcMask{1} << v,
                        .state = b.packets.front().state});
      b.ready = std::max(b.free_since, b.packets.front().head);
      at(b.ready);
    }
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    if (serve(r, static_cast<int>(o), {})) return true;
  }
  for (std::size_t n = 0; n < cards; ++n) {
    if (serve_card(r, static_cast<int>(n))) return true;
  }
  return false;
}

std::vector<std::int64_t> Oracle::run(const std::vector<Job>& jobs) {
  jobs_ = jobs;
  arrived_.assign(jobs.size(), INT64_MAX);
  sent_.assign(jobs.size(), 0);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    missing_.push_back(jobs[j].size);
    cards_[jobs[j].from].jobs.push_back(j);
    at(jobs[j].born);
  }
  while (!moments_.empty()) {
    now_ = *moments_.begin();
    moments_.erase(moments_.begin());
    hear();
    for (std::uint32_t r = 0; r < outs_.size(); ++r) {
      while (act_once(r)) {
      }
    }
    if (lines_ != nullptr) tell();
    moments_.erase(now_);
  }
  return arrived_;
}

}  // namespace weft::test
