// SPDX-License-Identifier: Apache-2.0
// Is there room at the other end? Kept out of line: where there obviously is, nobody asks.
#include "weft/simulate/router/flow.hpp"

namespace weft::detail {

// The earliest time, as far as is known, at which the VC takes a packet of this size; `now` or
// before when it does already.
std::int64_t Engine::room_at(std::uint32_t output, int vc, std::int64_t size, std::int64_t now) {
  Account& account = accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)];
  if (vc_free_at(output, vc) > now) return vc_free_at(output, vc);
  const Output& out = outputs_[output];
  if (has_room(account, out, size)) return now;
  Input& in = inputs_[out.target + static_cast<std::uint32_t>(vc)];
  reclaim(account, in, now);
  return has_room(account, out, size) ? now : room_later(account, out, in, size);
}

// The same when all credits up to now are counted and do not do.
std::int64_t Engine::room_later(const Account& account, const Output& out, Input& in,
                                std::int64_t size) {
  Account then = account;
  while (then.reclaim != in.head) {
    const Slot& gone = slot(in, then.reclaim++);
    then.room += static_cast<std::int32_t>(gone.size());
    if (has_room(then, out, size)) return gone.head_at;
  }
  starve(out, in);
  return never_at;
}

void Engine::starve(const Output& out, Input& in) {
  if (!in.starved && out.kind == to_router) ++routers_[router_of_output_[in.feeder]].starved;
  in.starved = true;
}

// The VC with the most room, in turn among equals; -1 when none has enough, and then when one may
// have.
int Engine::pick_vc(std::uint32_t output, VcMask vcs, std::int64_t size, std::int64_t now,
                    std::int64_t& possible_at) {
  const Output& out = outputs_[output];
  Account* const accounts = &accounts_[std::size_t{output} * vcs_];
  int best = -1;
  std::int32_t most = -1;
  const auto after = static_cast<VcMask>(~std::uint64_t{1} << out.last_vc);
  for (VcMask left = vcs; left != 0;) {
    const VcMask set = (left & after) != 0 ? left & after : left;
    const int vc = std::countr_zero(set);
    left &= ~(VcMask{1} << vc);
    Account& account = accounts[vc];
    Input& in = inputs_[out.target + static_cast<std::uint32_t>(vc)];
    // The accounts are compared, so they must be up to date.
    reclaim(account, in, now);
    if (vc_free_at(output, vc) > now) {
      possible_at = std::min(possible_at, vc_free_at(output, vc));
    } else if (!has_room(account, out, size)) {
      possible_at = std::min(possible_at, room_later(account, out, in, size));
    } else if (account.room > most) {
      most = account.room;
      best = vc;
    }
  }
  return best;
}

}  // namespace weft::detail
