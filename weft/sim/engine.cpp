// SPDX-License-Identifier: Apache-2.0
// The life of a router: heads are routed, outputs and cards act, alarms ring, mail comes in.
#include "weft/sim/engine.hpp"

#include <algorithm>
#include <bit>

#include <weft/sim/view.hpp>

namespace weft::detail {

void Engine::visit(int worker, std::uint32_t r, Time to) {
  const Router& router = routers_[r];
  std::int64_t* const next = &next_at_[router.first_next];
  ++crews_[static_cast<std::size_t>(worker)].counts.visits;
  for (;;) {
    int actor = 0;
    std::int64_t now = next[0];
    for (int a = 1; a < router.actors; ++a) {
      if (next[a] < now) {
        now = next[a];
        actor = a;
      }
    }
    if (now >= to.in_ps()) {
      if (now < never_at) windows_->wake(worker, r, now);
      return;
    }
    const int output = actor - 1;
    const int cards = router.outputs - router.nodes;
    if (actor == 0) {
      route_heads(worker, r, now);
    } else if (output < cards) {
      serve(worker, r, output, now, nullptr);
    } else if (output < router.outputs) {
      serve_card(worker, r, output, now);
    } else {
      const NodeId node =
          graph_.nodes_at(RouterId(r))[static_cast<std::size_t>(output - router.outputs)];
      next[actor] = never_at;  // Before the call: send() may look.
      const Time again = host_.alarm(worker, node, Time::ps(now));
      WEFT_CHECK(again.in_ps() > now);
      next[actor] = again.in_ps();
    }
  }
}

// When the head's route is known: only then may a policy that looks at the outputs be asked.
std::int64_t Engine::route_at(const Input& in) const {
  const std::int64_t head = slot(in, in.head).head_at;
  return machine_.lookahead ? std::max(head + route_ps_, in.ready_at)
                            : std::max(head, in.ready_at) + route_ps_;
}

std::int64_t Engine::ready_at(const Input& in) const {
  const std::int64_t head = slot(in, in.head).head_at;
  return machine_.lookahead ? std::max(head + route_ps_ + alloc_ps_, in.ready_at)
                            : std::max(head, in.ready_at) + route_ps_ + alloc_ps_;
}

void Engine::route_heads(int worker, std::uint32_t r, std::int64_t now) {
  std::int64_t later = never_at;
  std::uint64_t* const fresh = &fresh_[std::size_t{r} * words_];
  for (std::uint32_t w = 0; w < words_; ++w) {
    for (std::uint64_t word = fresh[w]; word != 0; word &= word - 1) {
      const std::uint32_t bit = w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      const std::uint32_t input = routers_[r].first_input + bit;
      if (facts_.looks) {
        const std::int64_t at = route_at(inputs_[input]);
        if (at > now) {
          later = std::min(later, at);
          continue;
        }
      }
      fresh[w] &= ~(std::uint64_t{1} << (bit % 64));
      route_head(worker, r, input, now);
    }
  }
  next_of(r, 0) = later;
}

void Engine::route_head(int worker, std::uint32_t r, std::uint32_t input, std::int64_t now) {
  const Router& router = routers_[r];
  Input& in = inputs_[input];
  const Slot& packet = slot(in, in.head);
  Flight flight;
  flight.destination = graph_.router_of(NodeId(packet.node));
  flight.destination_node = NodeId(packet.node);
  flight.hops = static_cast<std::uint8_t>(packet.hops);
  flight.state = packet.route;
  flight.source_node = NodeId((*messages_)[packet.message].from);
  Choices choices;
  policy_.next(RouterId(r), flight, View(*this, r, now), choices);
  if (choices.empty()) {
    fail(worker, r, now,
         "no way from " + router_name(topology_, RouterId(r)) + " to " +
             node_name(topology_, NodeId(packet.node)) +
             " under this routing: a cable on the way is down");
    return;
  }
  WEFT_DCHECK(choices.count() <= facts_.choices_max);
  in.ready_at = ready_at(in);
  const std::uint32_t bit = input - router.first_input;
  Way* const ways = &way_list_[std::size_t{input} * ways_];
  way_count_[input] = static_cast<std::uint8_t>(choices.count());
  for (int i = 0; i < choices.count(); ++i) {
    const Choice& choice = choices[i];
    const int output = choice.port == Choice::eject
                           ? router.ports + graph_.local_index(NodeId(packet.node))
                           : choice.port;
    ways[i] = {.output = static_cast<std::uint16_t>(output),
               .padding = 0,
               .vcs = choice.vcs & vc_range(0, machine_.vcs),
               .route = choice.state};
    const std::uint32_t global = router.first_output + static_cast<std::uint32_t>(output);
    waiting(global)[bit / 64] |= std::uint64_t{1} << (bit % 64);
    bring_forward(r, 1 + output, std::max(in.ready_at, outputs_[global].free_at));
  }
}

// A packet has come to the front of its buffer.
void Engine::new_head(int worker, std::uint32_t input, std::uint32_t router) {
  const Input& in = inputs_[input];
  if (in.port == no_port) {
    queue_head(input, router);
    return;
  }
  const std::uint32_t bit = input - routers_[router].first_input;
  fresh_[std::size_t{router} * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
  // A route that does not depend on time can wait until the packet could move: one visit less.
  const std::int64_t at = facts_.looks ? route_at(in) : ready_at(in);
  if (at < next_of(router, 0)) {
    next_of(router, 0) = at;
    windows_->wake(worker, router, at);
  }
}

// The same in an output buffer: there is but one way on, the cable.
void Engine::queue_head(std::uint32_t input, std::uint32_t router) {
  Input& in = inputs_[input];
  const auto ends = static_cast<std::uint32_t>(cable_count(router));
  const std::uint32_t local = input - routers_[router].first_input - ends * vcs_;
  const std::uint32_t output = ends + local / vcs_;
  const std::uint32_t vc = local % vcs_;
  const Slot& packet = slot(in, in.head);
  in.ready_at = std::max(in.ready_at, packet.head_at);
  way_count_[input] = 1;
  way_list_[std::size_t{input} * ways_] = {.output = static_cast<std::uint16_t>(output),
                                           .padding = 0,
                                           .vcs = VcMask{1} << vc,
                                           .route = packet.route};
  const std::uint32_t global = routers_[router].first_output + output;
  waiting(global)[0] |= std::uint64_t{1} << vc;
  bring_forward(router, 1 + static_cast<int>(output),
                std::max(in.ready_at, outputs_[global].free_at));
}

void Engine::arrive(int worker, std::uint32_t input, std::uint32_t router, const Slot& packet) {
  Input& in = inputs_[input];
  const bool empty = in.head == in.tail;
  slot(in, in.tail++) = packet;
  if (empty) new_head(worker, input, router);
}

void Engine::serve_card(int worker, std::uint32_t r, int output, std::int64_t now) {
  const Router& router = routers_[r];
  const std::uint32_t global = router.first_output + static_cast<std::uint32_t>(output);
  Output& out = outputs_[global];
  const NodeId node = graph_.nodes_at(
      RouterId(r))[static_cast<std::size_t>(output - router.outputs + router.nodes)];
  Card& card = cards_[node.index];
  std::int64_t& next = next_of(r, 1 + output);
  if (card.first == no_message) {
    next = never_at;
    return;
  }
  if (out.free_at > now) {
    next = out.free_at;
    return;
  }
  Message& message = (*messages_)[card.first];
  const std::int64_t payload = std::min(message.unsent, machine_.mtu.count);
  const std::int64_t size = std::max<std::int64_t>(payload + header_bytes_, 1);
  std::int64_t possible_at = never_at;
  // Packets for one node stay in one VC where the rest of the way keeps their order.
  const VcMask vcs = facts_.in_order ? VcMask{1} << (message.to % vcs_) : vc_range(0, machine_.vcs);
  const int vc = pick_vc(global, vcs, size, now, possible_at);
  if (vc < 0) {
    next = possible_at;
    return;
  }
  const Wire& wire = wires_[out.wire];
  const std::int64_t flit = wire.serialise_ps(std::min(size, flit_bytes_));
  const std::int64_t tail = now + wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0));
  if (message.unsent == message.size) message.entered_at = now;
  Slot packet = {};
  packet.head_at = now + wire.delay;
  packet.tail_after = static_cast<std::uint32_t>(tail - now);
  packet.node = message.to;
  packet.route = packet_bits_.at((std::uint64_t{node.index} << 32) | card.packets++);
  packet.message = card.first;
  packet.size = static_cast<std::uint32_t>(size) & 0x3ffff;
  packet.sequence =
      static_cast<std::uint32_t>((message.size - message.unsent) / machine_.mtu.count) & 63;
  message.unsent -= payload;
  out.free_at = tail + flit;
  out.last_vc = static_cast<std::uint8_t>(vc);
  ++out.packets;
  out.bytes += static_cast<std::uint64_t>(size);
  Account& account = accounts_[std::size_t{global} * vcs_ + static_cast<std::uint32_t>(vc)];
  account.room -= static_cast<std::int32_t>(size);
  ++account.pushed;
  ++crews_[static_cast<std::size_t>(worker)].counts.packets_sent;
  if (message.unsent == 0) {
    card.first = message.next;
    if (card.first == no_message) card.last = no_message;
  }
  next = card.first == no_message ? never_at : out.free_at;
  push(worker, out, vc, packet);
}

void Engine::send(NodeId from, NodeId to, Bytes size, Time now, std::uint64_t cookie) {
  WEFT_CHECK(from.index < graph_.node_count() && to.index < graph_.node_count() && size.count >= 0);
  const std::uint32_t r = graph_.router_of(from).index;
  const std::uint32_t id = messages_->make(worker_of(r));
  WEFT_CHECK(id != no_message);
  (*messages_)[id] = {.born_at = now.in_ps(),
                      .entered_at = 0,
                      .size = size.count,
                      .unsent = size.count,
                      .missing = size.count,
                      .cookie = cookie,
                      .from = from.index,
                      .to = to.index,
                      .next = no_message,
                      .received = 0};
  Card& card = cards_[from.index];
  const Router& router = routers_[r];
  const int output = router.outputs - router.nodes + graph_.local_index(from);
  if (card.first == no_message) {
    card.first = id;
    const Output& out = outputs_[router.first_output + static_cast<std::uint32_t>(output)];
    bring_forward(r, 1 + output, std::max(now.in_ps(), out.free_at));
    if (!running_) windows_->wake(worker_of(r), r, next_of(r, 1 + output));
  } else {
    (*messages_)[card.last].next = id;
  }
  card.last = id;
}

void Engine::set_alarm(NodeId node, Time at) {
  const std::uint32_t r = graph_.router_of(node).index;
  bring_forward(r, 1 + routers_[r].outputs + graph_.local_index(node), at.in_ps());
  if (at < Time::never()) windows_->wake(worker_of(r), r, at.in_ps());
}

Result<bool> Engine::run(Time until) {
  running_ = true;
  const bool remains = windows_->run(until);
  running_ = false;
  const Crew* worst = nullptr;
  for (const Crew& crew : crews_) {
    if (crew.failed_at == never_at) continue;
    if (worst == nullptr || std::pair(crew.failed_at, crew.failed_router) <
                                std::pair(worst->failed_at, worst->failed_router)) {
      worst = &crew;
    }
  }
  if (worst != nullptr) return Error::run(worst->failure);
  return remains;
}

// The earliest failure wins, whoever finds it: the same message for any number of workers.
void Engine::fail(int worker, std::uint32_t r, std::int64_t now, std::string why) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  if (std::pair(now, r) >= std::pair(crew.failed_at, crew.failed_router)) return;
  crew.failed_at = now;
  crew.failed_router = r;
  crew.failure = std::move(why);
}

void Engine::write_mail(int worker, int side) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.side = side;
  crew.mailed_at = INT64_MAX;
}

void Engine::read_mail(int worker, int side) {
  for (Crew& crew : crews_) {
    Mailbox& box = crew.mail[side][static_cast<std::size_t>(worker)];
    for (const PacketMail& mail : box.packets) arrive(worker, mail.input, mail.router, mail.slot);
    for (const CreditMail& mail : box.credits) {
      Input& ghost = inputs_[mail.ghost];
      slot(ghost, ghost.head++).head_at = mail.stamp_at;
      credit(worker, ghost, mail.stamp_at);
    }
    for (const std::uint32_t id : box.messages) messages_->free(id);
    box.packets.clear();
    box.credits.clear();
    box.messages.clear();
  }
}

int Engine::worker_of(std::uint32_t r) const {
  const std::vector<std::uint32_t>& first = windows_->partition().first;
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), r) - first.begin()) - 1;
}

NetworkCounts Engine::counts() const {
  NetworkCounts sum;
  for (const Crew& crew : crews_) {
    sum.packets_sent += crew.counts.packets_sent;
    sum.packets_delivered += crew.counts.packets_delivered;
    sum.hops += crew.counts.hops;
    sum.visits += crew.counts.visits;
  }
  return sum;
}

LinkCount Engine::link(LinkId link) const {
  const std::uint32_t r = graph_.source_of(link).index;
  const std::uint32_t port = link.index - graph_.link(RouterId(r), 0).index;
  const auto behind = buffered_ ? static_cast<std::uint32_t>(cable_count(r)) : 0u;
  const Output& out = outputs_[routers_[r].first_output + behind + port];
  return {.packets = out.packets, .bytes = out.bytes};
}

MemoryUse Engine::memory() const {
  const std::size_t fixed = routers_.size() * (sizeof(Router) + sizeof(std::uint32_t)) +
                            router_of_output_.size() * sizeof(std::uint32_t) +
                            next_at_.size() * sizeof(std::int64_t) + outputs_.bytes() +
                            accounts_.bytes() + input_count_ * sizeof(Input) + way_list_.bytes() +
                            way_count_.size() + (waiting_.size() + fresh_.size()) * 8 +
                            crossbar_free_at_.size() * 8 + cards_.size() * sizeof(Card);
  return {.bytes_per_router = fixed / std::max<std::size_t>(1, routers_.size()),
          .bytes_per_packet = sizeof(Slot),
          .bytes_reserved = slots_.bytes()};
}

}  // namespace weft::detail
