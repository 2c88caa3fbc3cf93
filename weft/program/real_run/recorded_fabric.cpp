// SPDX-License-Identifier: Apache-2.0
#include "recorded_fabric.hpp"

#include <algorithm>
#include <csignal>

#include <weft/message/mp/header.hpp>

namespace weft {

namespace {

// So that a wish to end is heard.
constexpr Duration longest_wait = Duration::ms(100);

volatile std::sig_atomic_t inside_call = 0, end_asked = 0;

// Inside a call it is soon seen that the end was asked for. Outside nobody would look.
void on_terminate(int number) {
  if (inside_call != 0) {
    end_asked = 1;
    return;
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

RecordedFabric::RecordedFabric(wire::Wire& wire, Fabric& network, bool shares_memory)
    : wire_(wire), network_(network), shares_memory_(shares_memory), rails_(1) {
  rails_.front().name = "memory";
}

void RecordedFabric::set_on_end(std::function<void()> on_end) {
  on_end_ = std::move(on_end);
  struct sigaction now = {};
  // A program that has something to do at its end does that.
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = on_terminate;
  ::sigaction(SIGTERM, &now, nullptr);
}

bool RecordedFabric::is_near(RankId peer) const {
  return peer == self() || (shares_memory_ && wire_.node_of(peer) == wire_.node_of(self()));
}

std::string RecordedFabric::rail_name(RankId peer, RailId rail) const {
  const std::string name = wire_.rail_name(peer, rail);
  return name.empty() ? "rail " + std::to_string(rail.index) : name;
}

std::size_t RecordedFabric::rail_number(RankId peer, RailId rail) {
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

void RecordedFabric::start_anew() {
  waited_ = {};
  for (RailState& rail : rails_) rail.bytes = 0;
}

std::vector<RailUse> RecordedFabric::rails_used() const {
  std::vector<RailUse> used;
  for (const RailState& rail : rails_) {
    if (rail.bytes == 0 && rail.downs == 0) continue;
    const Duration busy = rail.busy + (rail.under_way > 0 ? now() - rail.busy_since : Duration());
    used.push_back({rail.name, rail.bytes, rail.delivered, busy, rail.downs});
  }
  return used;
}

void RecordedFabric::post(const Way& way, const FrameHead& head, Payload payload, bool stable,
                          std::uint64_t cookie) {
  rails_[rail_number(way.peer, way.rail)].bytes += payload.size;
  if (log_ != nullptr) log_post(way.peer, head, payload.size);
  network_.post(way, head, payload, stable, cookie);
}

void RecordedFabric::write(const Way& way, Payload payload, RemoteMemory target,
                           const FrameHead& notice, std::uint64_t cookie) {
  const std::size_t number = rail_number(way.peer, way.rail);
  RailState& rail = rails_[number];
  rail.bytes += payload.size;
  if (number != 0) {
    if (rail.under_way++ == 0) rail.busy_since = now();
    writes_.emplace(cookie, Write{number, payload.size});
  }
  network_.write(way, payload, target, notice, cookie);
}

bool RecordedFabric::take_back(RankId peer, std::uint64_t cookie) {
  const bool taken = network_.take_back(peer, cookie);
  if (taken) end_write(cookie, false);
  return taken;
}

void RecordedFabric::end_write(std::uint64_t cookie, bool delivered) {
  const auto found = writes_.find(cookie);
  if (found == writes_.end()) return;
  RailState& rail = rails_[found->second.rail];
  if (delivered) rail.delivered += found->second.size;
  if (--rail.under_way == 0) rail.busy += now() - rail.busy_since;
  writes_.erase(found);
}

bool RecordedFabric::poll(Completion& out) {
  if (!network_.poll(out)) return false;
  switch (out.kind) {
    case Completion::Kind::frame:
    case Completion::Kind::written:
      if (log_ != nullptr) log_arrival(out);
      break;
    case Completion::Kind::sent:
    case Completion::Kind::unsent:
      end_write(out.cookie, out.kind == Completion::Kind::sent);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down:
    case Completion::Kind::peer_lost:
      note_rails(out);
      break;
    case Completion::Kind::refused:
      break;
  }
  return true;
}

void RecordedFabric::note_rails(const Completion& completion) {
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

void RecordedFabric::wait(Time until) {
  const Time begin = now();
  const bool yields = until == Time::zero();
  if (end_asked == 0) network_.wait(yields ? until : std::min(until, begin + longest_wait));
  waited_ += now() - begin;
  if (end_asked != 0) end();
}

void RecordedFabric::enter_call() {
  inside_call = 1;
  network_.enter_call();
}

void RecordedFabric::leave_call() {
  network_.leave_call();
  inside_call = 0;
  if (end_asked != 0) end();
}

void RecordedFabric::end() {
  if (on_end_) on_end_();
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

void RecordedFabric::log_post(RankId peer, const FrameHead& head, std::size_t size) {
  const mp::Header header = mp::decode(head);
  const bool eager = header.verb == mp::Verb::eager;
  if (eager || header.verb == mp::Verb::request) {
    if (header.context == record_context) return;
    log_->message(EventKind::send, now_ns(),
                  {peer.index, header.context, header.tag, eager ? size : header.size});
    return;
  }
  if (header.verb != mp::Verb::ready) return;
  // The answer to an announcement says which of our receives it is for.
  const auto found = announced_.find({peer.index, header.sender});
  if (found == announced_.end()) return;
  const Announced& announced = found->second;
  if (header.size <= announced.ahead) {
    log_->receive_end(now_ns(), announced.number);
  } else {
    coming_[header.receiver] = {announced.number, header.size - announced.ahead};
  }
  announced_.erase(found);
}

void RecordedFabric::log_arrival(const Completion& completion) {
  const mp::Header header = mp::decode(completion.head);
  const std::uint32_t peer = completion.peer.index;
  const LoggedMessage message{peer, header.context, header.tag,
                              header.verb == mp::Verb::eager ? completion.size : header.size};
  switch (header.verb) {
    case mp::Verb::eager:
      if (header.context != record_context) {
        log_->message(EventKind::receive, now_ns(), message);
      }
      break;
    case mp::Verb::request:
      if (header.context == record_context) break;
      log_->message(EventKind::receive_begin, now_ns(), message, ++comings_);
      announced_[{peer, header.sender}] = {comings_, header.key, header.size};
      break;
    case mp::Verb::head: {
      // Where all of it comes ahead nobody answers.
      const auto found = announced_.find({peer, header.sender});
      if (found == announced_.end() || found->second.ahead < found->second.size) break;
      found->second.size -= std::min(found->second.size, completion.size);
      found->second.ahead = found->second.size;
      if (found->second.size > 0) break;
      log_->receive_end(now_ns(), found->second.number);
      announced_.erase(found);
      break;
    }
    case mp::Verb::cancel:
      announced_.erase({peer, header.sender});
      break;
    case mp::Verb::part: {
      // After the failure of a rail a part may come twice; then this is a moment too early.
      const auto found = coming_.find(header.receiver);
      if (found == coming_.end()) break;
      found->second.missing -= std::min(found->second.missing, completion.size);
      if (found->second.missing > 0) break;
      log_->receive_end(now_ns(), found->second.number);
      coming_.erase(found);
      break;
    }
    case mp::Verb::none:
    case mp::Verb::ready:
    case mp::Verb::credit:
    case mp::Verb::cancel_reply:
      break;
  }
}

}  // namespace weft
