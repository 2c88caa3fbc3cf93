// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/message/conn/state.hpp>

namespace weft::conn {

const Link* State::find(RankId peer) const {
  const auto found = links.find(peer.index);
  return found == links.end() ? nullptr : &found->second;
}

bool State::connected(RankId peer) const {
  if (!below.connections.needs_connection(peer)) return true;
  const Link* const to = find(peer);
  return to != nullptr && to->up();
}

PendingSend& State::add_pending(PendingSend::Kind kind, RankId peer, std::uint64_t cookie) {
  if (free_slots.empty()) {
    free_slots.push_back(static_cast<std::uint32_t>(pending.size()));
    pending.emplace_back().index = free_slots.back();
  }
  PendingSend& slot = pending[free_slots.back()];
  free_slots.pop_back();
  slot.kind = kind;
  slot.peer = peer;
  slot.cookie = cookie;
  if (kind != PendingSend::Kind::last_frame && peer != self) ++link(peer).open_cookies;
  return slot;
}

PendingSend* State::find_pending(std::uint64_t id) {
  const std::uint64_t index = (id & 0xffffffffu) - 1;
  if (index >= pending.size()) return nullptr;
  PendingSend& slot = pending[index];
  const bool same = slot.generation == id >> 32 && slot.kind != PendingSend::Kind::free;
  return same ? &slot : nullptr;
}

void State::free_pending(PendingSend& slot) {
  if (slot.kind != PendingSend::Kind::last_frame && slot.peer != self) {
    --link(slot.peer).open_cookies;
  }
  slot.kind = PendingSend::Kind::free;
  slot.transit = {};
  ++slot.generation;
  free_slots.push_back(slot.index);
}

Completion& State::tell(Completion::Kind kind, RankId peer, std::uint64_t cookie) {
  ReadyCompletion told;
  told.completion.kind = kind;
  told.completion.peer = peer;
  told.completion.cookie = cookie;
  ready.push_back(std::move(told));
  return ready.back().completion;
}

void State::post(RankId peer, const Head& head, std::uint64_t pending_id) {
  ++link(peer).out;
  below.transport.post({peer, RailId(0), Duration::zero()}, encode(head), {}, false, pending_id);
}

void State::post_packet(PendingSend& slot, const Head& head) {
  use(link(slot.peer));
  const auto rails = static_cast<std::uint32_t>(std::max(below.rails.rail_count(slot.peer), 1));
  below.transport.post({slot.peer, RailId(head.number % rails), Duration::zero()}, encode(head),
                       slot.transit.packet.payload(), true, slot.id());
}

void State::spread(const Head& news, RankId except) {
  for (auto& [peer, to] : links) {
    if (to.up() && RankId(peer) != except && !is_gone(RankId(peer))) post(RankId(peer), news);
  }
}

}  // namespace weft::conn
