// SPDX-License-Identifier: Apache-2.0
// What the message layer asks of the network; wire_events.cpp is about what the network brings.
#include <algorithm>
#include <cstring>
#include <utility>

#include <sched.h>

#include <weft/base/check.hpp>
#include <weft/base/copy.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/watched.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

Time Wire::now() const {
  return Time::zero() + (real_now() - start_);
}

Fabric Wire::fabric() {
  return {.self = self_,
          .ranks = ranks(),
          .first = first_,
          .ordered = true,
          .carries_data = true,
          .transport = *this,
          .connections = *this,
          .rails = *this,
          .processor = *this,
          .observer = nullptr};
}

int Wire::rail_count(RankId peer) const {
  const Peer& to = peers_[peer.index];
  return to.link == nullptr ? 1 : to.link->rails();
}

RailFacts Wire::rail_facts(RankId peer, RailId rail) const {
  const Peer& to = peers_[peer.index];
  if (to.link != nullptr) return to.link->rail(rail);
  const RailCost cost =
      to.direct != nullptr ? to.direct->cost() : RailCost{Rate::gbyte_per_s(8), Duration::zero()};
  return {cost.rate, cost.latency, true};
}

void Wire::lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const {
  const Link* const link = peers_[peer.index].link.get();
  if (link == nullptr || here_.layout.nodes.size() < 2) return;
  std::vector<locality::RailSite> sites;
  for (std::uint32_t i = 0; i < rates.size(); ++i) {
    const std::string name = link->name_of(RailId(i));
    const auto found = std::find_if(here_.rails.begin(), here_.rails.end(),
                                    [&](const auto& site) { return site.name == name; });
    sites.push_back(found == here_.rails.end() ? locality::RailSite{} : *found);
  }
  const int node = locality::node_of_memory(data);
  const auto lowered = locality::lower_rates(rates, node, here_.layout, sites);
  std::copy(lowered.begin(), lowered.end(), rates.begin());
}

Link& Wire::link_to(RankId peer) {
  Link& link = *peers_[peer.index].link;
  if (!link.open()) connect(peer);
  return link;
}

void Wire::connect(RankId peer) {
  Peer& to = peers_[peer.index];
  if (to.link == nullptr) {
    Completion up;
    up.kind = Completion::Kind::rail_up;
    up.peer = peer;
    events_.push_back(std::move(up));
    return;
  }
  to.link->connect(now());
  if (std::find(links_.begin(), links_.end(), to.link.get()) != links_.end()) return;
  links_.push_back(to.link.get());
  look_every_ = ticks_per_ms_ / 1000;
}

void Wire::disconnect(RankId peer) {
  if (Link* const link = peers_[peer.index].link.get()) link->disconnect(now());
}

void Wire::send_kept() {
  std::exchange(kept_, nullptr)->flush();
}

void Wire::lose(RankId peer, const std::string& reason) {
  Peer& to = peers_[peer.index];
  if (to.trouble.empty()) to.trouble = reason;
  if (std::exchange(to.lost_told, true)) return;
  Completion lost;
  lost.kind = Completion::Kind::peer_lost;
  lost.peer = peer;
  events_.push_back(std::move(lost));
}

void Wire::tell_sent(RankId peer, std::uint64_t cookie) {
  Completion sent;
  sent.kind = Completion::Kind::sent;
  sent.peer = peer;
  sent.cookie = cookie;
  events_.push_back(std::move(sent));
}

void Wire::post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                std::uint64_t cookie) {
  Peer& to = peers_[path.peer.index];
  if (to.direct != nullptr) {
    to.direct->send({head, payload, cookie, stable, path.more});
    return;
  }
  if (to.link != nullptr) {
    Link& link = link_to(path.peer);
    link.post(path.rail, {head, payload, cookie, stable, path.more});
    if (kept_ != nullptr && (kept_ != &link || !path.more)) send_kept();
    if (path.more) kept_ = &link;
    return;
  } else if (path.peer == self_) {
    Completion frame;
    frame.peer = self_;
    frame.size = payload.size;
    frame.head = head;
    if (payload.data != nullptr && payload.size > 0) {
      frame.data = std::make_unique_for_overwrite<std::byte[]>(payload.size);
      std::memcpy(frame.data.get(), payload.data, payload.size);
    }
    events_.push_back(std::move(frame));
  } else if (!to.left) {
    lose(path.peer, to.trouble);
  }
  if (cookie != 0) tell_sent(path.peer, cookie);
}

void Wire::write(const SendPath& path, Payload payload, RemoteMemory target,
                 const FrameHead& notice, std::uint64_t cookie) {
  Peer& to = peers_[path.peer.index];
  if (to.direct != nullptr) {
    to.direct->write({payload, target, notice, cookie});
    return;
  }
  if (to.link != nullptr) {
    link_to(path.peer).write(path.rail, {payload, target, notice, cookie});
    if (kept_ != nullptr) send_kept();
    holding_ = true;
    return;
  } else if (path.peer == self_) {
    const Stretch there = regions_->find(target.key, target.offset, payload.size);
    if (there.data != nullptr) std::memmove(there.data, payload.data, payload.size);
    Completion written;
    written.kind = Completion::Kind::written;
    written.peer = self_;
    written.size = payload.size;
    written.head = notice;
    events_.push_back(std::move(written));
  }
  tell_sent(path.peer, cookie);
}

bool Wire::take_back(RankId peer, std::uint64_t cookie) {
  Peer& to = peers_[peer.index];
  return to.link != nullptr && to.link->take_back(cookie);
}

std::uint64_t Wire::register_memory(RankId peer, std::byte* data, std::size_t size) {
  const std::uint64_t key = regions_->add(data, size);
  if (Link* const link = peers_[peer.index].link.get()) link->share(key, data, size);
  return key;
}

void Wire::deregister_memory(std::uint64_t key) {
  for (const auto& kind : kinds_) kind->close_memory(key);
  regions_->remove(key);
}

void Wire::enter_call() {
  if (!let_go_) return;
  let_go_ = false;
  for (Link* const link : links_) link->take_up();
}

void Wire::leave_call() {
  if (kept_ != nullptr) send_kept();
  if (!holding_) return;
  holding_ = false;
  let_go_ = true;
  for (Link* const link : links_) holding_ = link->let_go() || holding_;
}

void Wire::copy(std::byte* to, const std::byte* from, std::size_t size) {
  if (to != nullptr && from != nullptr) copy_bytes(to, from, size);
}

bool Wire::poll_links(Completion& out) {
  for (Link* const link : links_) {
    if (link->next(out)) return true;
  }
  return false;
}

void Wire::part(RankId peer) {
  Peer& gone = peers_[peer.index];
  gone.direct = nullptr;
  gone.direct_kind = nullptr;
  gone.left = true;
  crowded_ = --processes_here_ > processors_here_.size();
  gone.trouble = "its process has ended";
}

bool Wire::poll(Completion& out) {
  answered_ = false;
  if (kept_ != nullptr) send_kept();
  for (int round = 0; round < 2; ++round) {
    if (!events_.empty()) {
      out = std::move(events_.front());
      events_.pop_front();
      return true;
    }
    for (RailKind* const kind : direct_kinds_) {
      if (kind->poll(out)) return true;
    }
    if (!links_.empty() && poll_links(out)) return true;
    if (!events_.empty()) continue;  // Told before anything new is heard.
    if (round > 0 || ticks() - last_look_ < look_every_) continue;
    look(0);
  }
  return false;
}

bool Wire::something_waits() {
  if (!events_.empty() || answered_) return true;
  for (RailKind* const kind : direct_kinds_) {
    if (kind->has_readable()) return true;
  }
  return !events_.empty() || std::any_of(links_.begin(), links_.end(),
                                         [](const Link* link) { return link->has_readable(); });
}

void Wire::yield() {
  if (lock_ == nullptr) {
    ::sched_yield();
    return;
  }
  const unsigned depth = lock_->let_go();
  ::sched_yield();
  lock_->take_up(depth);
}

// Polls for a moment, because an answer often comes soon, unless the last sleep brought nothing;
// yields where processes share cores; then sleeps.
void Wire::wait(Time until) {
  if (kept_ != nullptr) send_kept();
  if (until == Time::zero()) {
    if (crowded_) yield();
    return;
  }
  const std::uint64_t begin = ticks();
  const bool hopes = !crowded_ && !std::exchange(in_vain_, false) && !core_.contested();
  const std::uint64_t patience = hopes ? ticks_per_ms_ / 10 : 0;
  for (bool first = true;; first = false) {
    if (something_waits()) return;
    if (lock_ != nullptr && lock_->wanted()) return;  // Another thread of the program.
    // Direct rails first and most: they are the fast ones.
    for (RailKind* const kind : direct_kinds_) {
      if (!crowded_ && kind->spin()) return;
    }
    if (ticks() - begin > patience && !first) break;
    if (ticks() - last_look_ >= look_every_) look(0);
    if (until < Time::never() && now() >= until) return;
    if (crowded_) yield();
  }
  sleep(until);
}

}  // namespace weft::wire
