// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/output_buffers.hpp"

#include <bit>

#include <weft/simulate/flits/news.hpp>
#include <weft/simulate/flits/pipeline.hpp>
#include <weft/simulate/flits/state.hpp>

namespace weft::flits {
namespace {

VcMask vc_bit(std::uint32_t vc) {
  return VcMask{1} << vc;
}

// Cut-through: a packet begins to pass when there is room for all of it.
bool can_send(const State& state, const OutputQueue& queue) {
  if (queue.flits == 0) return false;
  const bool begins = queue.passed == 0;
  const bool whole = begins && state.setup.model.flow_control == FlowControl::cut_through;
  const std::uint32_t needed = whole ? state.packets[queue.packet].flits : 1;
  return queue.credits >= static_cast<std::int32_t>(needed);
}

void note_sending(State& state, std::uint32_t output) {
  OutputBuffers& buffers = state.buffers;
  if (!can_send(state, buffers.queues[output])) return;
  const InputVc& same = state.inputs[output];  // An end's input has the same number.
  const Router& router = state.routers[same.router];
  buffers.ends[router.first_end + same.port].ready |= vc_bit(same.vc);
  buffers.sending[same.router] |= std::uint64_t{1} << (same.port % word_ends);
  state.active.add(same.router);
}

// The VC whose turn it is, or that has the oldest packet.
std::uint32_t pick_vc(const State& state, const LinkEnd& link, std::uint32_t first) {
  const VcMask before_turn = vc_bit(link.vc_turn) - 1;
  const VcMask later = link.ready & ~before_turn;
  auto best = static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : link.ready));
  if (state.setup.machine.arbitration != Arbitration::age) return best;
  const auto born_at = [&](std::uint32_t vc) {
    return state.packets[state.buffers.queues[first + vc].packet].born_ps;
  };
  for (VcMask part : {later, link.ready & before_turn}) {
    for (; part != 0; part &= part - 1) {
      const auto vc = static_cast<std::uint32_t>(std::countr_zero(part));
      if (born_at(vc) < born_at(best)) best = vc;
    }
  }
  return best;
}

// The first packet of a queue has passed on.
void end_packet(State& state, const LinkEnd& link, std::uint32_t output) {
  OutputQueue& queue = state.buffers.queues[output];
  if (link.remote_worker != nobody) state.packets.free(queue.packet);  // Its reader has a copy.
  ++queue.head;
  queue.passed = 0;
  queue.packet = queue.head != queue.tail ? state.buffers.ring(output, queue.head) : none;
}

// The first flit of a queue enters the link.
void send(State& state, LinkEnd& link, std::uint32_t first, std::uint32_t vc) {
  const Setup& setup = state.setup;
  const std::uint32_t output = first + vc;
  OutputQueue& queue = state.buffers.queues[output];
  const Packet& packet = state.packets[queue.packet];
  const bool head = queue.passed == 0;
  const bool tail = ++queue.passed == packet.flits;
  state.moved_at = state.now;
  --queue.flits;
  --queue.credits;
  link.vc_turn = static_cast<std::uint8_t>(vc + 1 == setup.vcs ? 0 : vc + 1);
  link.passed.packets += head ? 1 : 0;
  link.passed.bytes += setup.bytes_of(packet, tail);
  if (link.flit_ps > setup.timing.cycle_ps)
    link.free_at_ps = state.busy_until(link.free_at_ps, link.flit_ps);
  const std::int64_t at = state.now + link.delay;
  const std::uint32_t target = link.target + vc;
  if (link.remote_worker == nobody)
    state.flits.push(at, {target, head || tail ? queue.packet : none, head, tail});
  else
    state.mail.send_flit(link.remote_worker, at, target, head ? &packet : nullptr);
  const bool whole = setup.machine.release == Release::tail;
  const std::uint32_t room = !whole ? 1 : tail ? packet.flits : 0;
  if (tail) end_packet(state, link, output);
  if (!can_send(state, queue)) link.ready &= ~vc_bit(vc);
  if (room > 0) take_credit(state, {output, room});
}

}  // namespace

void take_queued_flit(State& state, const FlitArrival& flit) {
  const std::uint32_t output = flit.input - state.first_queue();
  OutputQueue& queue = state.buffers.queues[output];
  ++queue.flits;
  if (flit.head) {
    state.buffers.ring(output, queue.tail++) = flit.packet;
    if (queue.packet == none) queue.packet = flit.packet;
  }
  note_sending(state, output);
}

void take_link_credit(State& state, const CreditArrival& credit) {
  state.buffers.queues[credit.output].credits += static_cast<std::int32_t>(credit.count);
  note_sending(state, credit.output);
}

bool serve_links(State& state, std::uint32_t r) {
  const Router& router = state.routers[r];
  std::uint64_t& sending = state.buffers.sending[r];
  std::uint64_t asked = 0;
  for (std::uint64_t left = sending; left != 0; left &= left - 1) {
    const auto place = static_cast<std::uint32_t>(std::countr_zero(left));
    bool more = false;
    for (std::uint32_t port = place; port < router.ends; port += word_ends) {
      LinkEnd& link = state.buffers.ends[router.first_end + port];
      if (link.ready == 0) continue;
      if (link.free_at_ps <= state.now_ps()) {
        if (port < word_ends) asked |= std::uint64_t{1} << port;
        const std::uint32_t first = (router.first_end + port) * state.setup.vcs;
        send(state, link, first, pick_vc(state, link, first));
      }
      more = more || link.ready != 0;
    }
    if (!more) sending &= ~(std::uint64_t{1} << place);
  }
  if (asked != 0 && state.news != nullptr) state.news->note_asked(r, asked, state.now);
  return sending != 0;
}

}  // namespace weft::flits
