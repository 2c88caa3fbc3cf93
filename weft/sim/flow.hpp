// SPDX-License-Identifier: Apache-2.0
// Packets and credits on their way between buffers. Inline, because a hop consists of little else.
#pragma once

#include <algorithm>
#include <bit>

#include <weft/sim/engine.hpp>

namespace weft::detail {

inline void Engine::reclaim(Account& account, const Input& in, std::int64_t now) {
  while (account.reclaim != in.head) {
    const Slot& gone = slot(in, account.reclaim);
    if (gone.head_at > now) return;
    account.room += static_cast<std::int32_t>(gone.size);
    ++account.reclaim;
  }
}

// The earliest time, as far as is known, at which the VC takes a packet of this size; `now` or
// before when it does already.
inline std::int64_t Engine::room_at(std::uint32_t output, int vc, std::int64_t size,
                                    std::int64_t now) {
  Account& account = accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)];
  if (account.free_at > now) return account.free_at;
  const Output& out = outputs_[output];
  const auto fits = [&](std::int64_t room, std::uint16_t reclaimed) {
    return room >= size && static_cast<std::uint16_t>(account.pushed - reclaimed) < out.packets_max;
  };
  if (fits(account.room, account.reclaim)) return now;
  Input& in = inputs_[out.target + static_cast<std::uint32_t>(vc)];
  reclaim(account, in, now);
  if (fits(account.room, account.reclaim)) return now;
  std::int64_t room = account.room;
  for (std::uint16_t i = account.reclaim; i != in.head;) {
    const Slot& gone = slot(in, i++);
    room += gone.size;
    if (fits(room, i)) return gone.head_at;
  }
  in.starved = 1;
  return never_at;
}

// The VC with the most room, in turn among equals; -1 when none has enough, and then when one may
// have.
inline int Engine::pick_vc(std::uint32_t output, VcMask vcs, std::int64_t size, std::int64_t now,
                           std::int64_t& possible_at) {
  const int count = static_cast<int>(vcs_);
  int best = -1;
  std::int32_t most = -1;
  int vc = outputs_[output].last_vc;
  for (int i = 0; i < count; ++i) {
    vc = vc + 1 == count ? 0 : vc + 1;
    if (((vcs >> vc) & 1) == 0) continue;
    const auto v = static_cast<std::uint32_t>(vc);
    Account& account = accounts_[std::size_t{output} * vcs_ + v];
    // The accounts are compared, so they must be up to date.
    reclaim(account, inputs_[outputs_[output].target + v], now);
    const std::int64_t at = room_at(output, vc, size, now);
    if (at > now) {
      possible_at = std::min(possible_at, at);
    } else if (account.room > most) {
      most = account.room;
      best = vc;
    }
  }
  return best;
}

// When the space of a departing packet can be used again by the feeder.
inline std::int64_t Engine::stamp_at(const Input& in, std::int64_t size, std::int64_t start_at,
                                     std::int64_t tail_at) const {
  if (machine_.release == Release::tail) return tail_at + in.credit;
  // A successor that starts now ends no earlier than this much later; it never catches up.
  const std::uint32_t feeder = in.remote ? inputs_[in.feeder].feeder : in.feeder;
  const Wire& wire = wires_[outputs_[feeder].wire];
  const std::int64_t follow = wire.serialise_ps(std::max<std::int64_t>(size - flit_bytes_, 0));
  return std::max(start_at, tail_at - follow) + in.credit;
}

// A packet has come to the front of its buffer.
inline void Engine::new_head(int worker, std::uint32_t input, std::uint32_t router) {
  const Input& in = inputs_[input];
  if (in.port == no_port) {
    queue_head(input, router);
    return;
  }
  const std::uint32_t bit = input - routers_[router].first_input;
  fresh_[std::size_t{router} * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
  if (timed_) {
    const std::int64_t at = route_at(in);
    bring_forward(router, 0, at);
    wake(worker, router, at);
  } else {
    // A route that does not depend on time can wait until the packet could move: one visit less.
    wake(worker, router, ready_at(in));
  }
}

inline void Engine::arrive(int worker, std::uint32_t input, std::uint32_t router,
                           const Slot& packet) {
  Input& in = inputs_[input];
  const bool empty = in.head == in.tail;
  slot(in, in.tail++) = packet;
  if (empty) new_head(worker, input, router);
}

inline void Engine::push(int worker, Output& out, int vc, const Slot& packet) {
  const std::uint32_t target = out.target + static_cast<std::uint32_t>(vc);
  if (!out.remote) {
    arrive(worker, target, out.router, packet);
    return;
  }
  Input& ghost = inputs_[target];
  slot(ghost, ghost.tail++) = packet;
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.mail[crew.side][out.worker].packets.push_back(
      {out.mail + static_cast<std::uint32_t>(vc), out.router, packet});
  crew.mailed_at = std::min(crew.mailed_at, packet.head_at);
}

// Space has become, or will become, free: if its feeder waits for it, tell him when.
inline void Engine::credit(int worker, Input& in, std::int64_t stamp_at) {
  if (!in.starved) return;
  in.starved = 0;
  const std::uint32_t r = router_of_output_[in.feeder];
  const auto output = static_cast<int>(in.feeder - routers_[r].first_output);
  const std::int64_t at = std::max(stamp_at, outputs_[in.feeder].free_at);
  bring_forward(r, 1 + output, at);
  // A VC can be given away while its output is busy.
  if (committing_) bring_forward(r, 0, stamp_at);
  wake(worker, r, committing_ ? stamp_at : at);
}

}  // namespace weft::detail
