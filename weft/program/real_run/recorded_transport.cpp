// SPDX-License-Identifier: Apache-2.0
#include "recorded_transport.hpp"

#include <algorithm>

namespace weft {

namespace {

// Waits end now and then, so that the process notices a request to end.
constexpr Duration longest_wait = Duration::ms(100);

}  // namespace

RecordedTransport::RecordedTransport(const wire::Wire& wire, const Fabric& network,
                                     bool shares_memory, EarlyEnd& early_end)
    : wire_(wire),
      network_(network),
      shares_memory_(shares_memory),
      early_end_(early_end),
      rails_(1) {
  rails_.front().name = "memory";
}

bool RecordedTransport::is_near(RankId peer) const {
  return peer == network_.self ||
         (shares_memory_ && wire_.node_of(peer) == wire_.node_of(network_.self));
}

std::string RecordedTransport::rail_name(RankId peer, RailId rail) const {
  const std::string name = wire_.rail_name(peer, rail);
  return name.empty() ? "rail " + std::to_string(rail.index) : name;
}

std::size_t RecordedTransport::rail_number(RankId peer, RailId rail) {
  if (is_near(peer)) return 0;
  const std::uint64_t key = std::uint64_t{peer.index} << 32 | rail.index;
  const auto [known, is_new] = rail_numbers_.emplace(key, rails_.size());
  if (!is_new) return known->second;
  std::string name = rail_name(peer, rail);
  const auto same = std::find_if(rails_.begin() + 1, rails_.end(),
                                 [&](const RailState& one) { return one.name == name; });
  known->second = static_cast<std::size_t>(same - rails_.begin());
  if (same == rails_.end()) rails_.emplace_back().name = std::move(name);
  return known->second;
}

void RecordedTransport::start_anew() {
  waited_ = {};
  for (RailState& rail : rails_) rail.bytes = 0;
}

std::vector<RailUse> RecordedTransport::rails_used() const {
  std::vector<RailUse> used;
  for (const RailState& rail : rails_) {
    if (rail.bytes == 0 && rail.downs == 0) continue;
    const Duration busy = rail.busy + (rail.under_way > 0 ? now() - rail.busy_since : Duration());
    used.push_back({rail.name, rail.bytes, rail.delivered, busy, rail.downs});
  }
  return used;
}

void RecordedTransport::post(const SendPath& path, const FrameHead& head, Payload payload,
                             bool stable, std::uint64_t cookie) {
  rails_[rail_number(path.peer, path.rail)].bytes += payload.size;
  network_.transport.post(path, head, payload, stable, cookie);
}

void RecordedTransport::write(const SendPath& path, Payload payload, RemoteMemory target,
                              const FrameHead& notice, std::uint64_t cookie) {
  const std::size_t number = rail_number(path.peer, path.rail);
  RailState& rail = rails_[number];
  rail.bytes += payload.size;
  if (number != 0) {
    if (rail.under_way++ == 0) rail.busy_since = now();
    writes_.emplace(cookie, Write{number, payload.size});
  }
  network_.transport.write(path, payload, target, notice, cookie);
}

bool RecordedTransport::take_back(RankId peer, std::uint64_t cookie) {
  const bool taken = network_.transport.take_back(peer, cookie);
  if (taken) end_write(cookie, false);
  return taken;
}

void RecordedTransport::end_write(std::uint64_t cookie, bool delivered) {
  const auto found = writes_.find(cookie);
  if (found == writes_.end()) return;
  RailState& rail = rails_[found->second.rail];
  if (delivered) rail.delivered += found->second.size;
  if (--rail.under_way == 0) rail.busy += now() - rail.busy_since;
  writes_.erase(found);
}

bool RecordedTransport::poll(Completion& out) {
  if (!network_.transport.poll(out)) return false;
  switch (out.kind) {
    case Completion::Kind::sent:
    case Completion::Kind::unsent:
      end_write(out.cookie, out.kind == Completion::Kind::sent);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down:
    case Completion::Kind::peer_lost:
      note_rails(out);
      break;
    case Completion::Kind::frame:
    case Completion::Kind::written:
    case Completion::Kind::refused:
      break;
  }
  return true;
}

void RecordedTransport::note_rails(const Completion& completion) {
  const RankId peer = completion.peer;
  if (is_near(peer)) return;
  if (completion.kind == Completion::Kind::peer_lost) {
    std::erase_if(open_, [&](const auto& one) { return one.first == peer.index; });
  } else if (completion.kind == Completion::Kind::rail_up) {
    open_.emplace(peer.index, completion.rail.index);
  } else {
    open_.erase({peer.index, completion.rail.index});
    ++rails_[rail_number(peer, completion.rail)].downs;
  }
}

void RecordedTransport::wait(Time until) {
  const Time begin = now();
  const bool yields = until == Time::zero();
  if (!early_end_.asked())
    network_.transport.wait(yields ? until : std::min(until, begin + longest_wait));
  waited_ += now() - begin;
  if (early_end_.asked()) early_end_.end();
}

}  // namespace weft
